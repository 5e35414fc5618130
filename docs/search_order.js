// The site's search: a page that is titled by the words sought comes first, and pages for users come
// before those for reviewers and contributors.
const BEHIND = /^(project|method|evaluation|prove\/studies)\//;
const LISTS = /^(reference\/|project\/decisions\/)/;
const SOUGHT = (new URLSearchParams(window.location.search).get("q") || "")
  .toLowerCase()
  .split(/[^a-z0-9-]+/)
  .filter((word) => word.length > 3)
  .map((word) => word.replace(/s$/, ""));

var Scorer = {
  score: ([page, title, , , score]) =>
    score +
    10 * SOUGHT.filter((word) => title.toLowerCase().includes(word)).length -
    (BEHIND.test(page) ? 100 : 0) -
    (LISTS.test(page) ? 50 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
