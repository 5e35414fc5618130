/* read_loop FILE... - libpcap's own read loop, doing nothing with the packets but counting them. */
#include <pcap/pcap.h>
#include <stdio.h>

static void count(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *bytes) {
    unsigned long *totals = (unsigned long *)user;
    totals[0] += 1;
    totals[1] += header->caplen + bytes[0] % 1;
}

int main(int argc, char **argv) {
    unsigned long totals[2] = {0, 0};
    char problem[PCAP_ERRBUF_SIZE];
    for (int i = 1; i < argc; i++) {
        pcap_t *capture = pcap_open_offline_with_tstamp_precision(argv[i], PCAP_TSTAMP_PRECISION_NANO, problem);
        if (!capture) return fprintf(stderr, "%s: %s\n", argv[i], problem), 2;
        if (pcap_loop(capture, -1, count, (unsigned char *)totals) < 0)
            return fprintf(stderr, "%s: %s\n", argv[i], pcap_geterr(capture)), 2;
        pcap_close(capture);
    }
    printf("%lu packets, %lu bytes\n", totals[0], totals[1]);
    return 0;
}
