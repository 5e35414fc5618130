#!/bin/bash
# Record the study: record.sh LAB OUT [ROUNDS]   (root; LAB is the folder with lab.py)
# One run of each scenario after the other, then the next round: what drifts meets all of them alike.
set -euo pipefail
lab=$1 out=$2 rounds=${3:-8}
traffic="--traffic rr --count 200 --size 1024 --snaplen 128"
dfw="--dfw 100 --dfw-mode stateful"
scenarios=(
  "l2                --variant l2"
  "dfw               --variant l2 $dfw"
  "dfw-stateless     --variant l2 --dfw 100"
  "vxlan             --variant vxlan"
  "vxlan-l3          --variant vxlan --switch l3"
  "vxlan-routed      --variant routed"
  "vxlan-routed-dfw  --variant routed $dfw"
)
for round in $(seq "$rounds"); do
  for scenario in "${scenarios[@]}"; do
    read -r name options <<< "$scenario"
    run=$out/$name/run$round
    # shellcheck disable=SC2086 # options are words
    nice -n -10 python3 "$lab/lab.py" run "$run" $options $traffic
    zstd -q -19 --rm "$run"/*.pcap
    rm "$run/manifest.json" "$run"/transactions-*.csv
  done
done
