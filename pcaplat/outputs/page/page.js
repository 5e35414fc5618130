"use strict";
// Without this script the page is whole: it only puts drawings that move in place of still ones.
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("specs").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const specs = await new Response(stream).json();
  const views = new Map();
  const tooltip = document.body.appendChild(document.createElement("div"));
  tooltip.id = "tooltip";
  tooltip.hidden = true;

  // names come from captures: they are text, never markup
  const showTooltip = (_, event, item, value) => {
    tooltip.hidden = !value;
    if (!value) return;
    const list = document.createElement("dl");
    for (const [title, text] of Object.entries(value)) {
      list.appendChild(document.createElement("dt")).textContent = title;
      list.appendChild(document.createElement("dd")).textContent = text;
    }
    tooltip.replaceChildren(list);
    const right = innerWidth - tooltip.offsetWidth - 8;
    const below = event.clientY + 16 + tooltip.offsetHeight < innerHeight;
    tooltip.style.left = `${Math.max(8, Math.min(event.clientX + 12, right))}px`;
    tooltip.style.top = `${below ? event.clientY + 16 : event.clientY - tooltip.offsetHeight - 8}px`;
  };

  const widthOf = (place) => Math.max(280, Math.min(900, place.parentElement.clientWidth));

  const draw = (spec, number) => {
    const figure = document.getElementById(`figure-${number}`);
    const place = figure.querySelector(".live");
    const view = new vega.View(vega.parse(spec, null, { ast: true }), {
      expr: vega.expressionInterpreter,
      renderer: "svg",
      logLevel: vega.Warn,
    });
    view.tooltip(showTooltip).width(widthOf(place)).initialize(place).hover();
    views.set(number, { view, place });
    return view.runAsync().then(() => {
      place.hidden = false;
      figure.querySelector(".still").hidden = true;
    });
  };

  const fit = () => {
    for (const { view, place } of views.values()) view.width(widthOf(place)).runAsync();
  };

  const choose = (direction) => {
    for (const { view } of views.values()) {
      if ("direction" in view.getState().signals) view.signal("direction", direction).runAsync();
    }
    for (const figure of document.querySelectorAll("figure[data-direction]")) {
      figure.hidden = direction !== "both" && figure.dataset.direction !== direction;
    }
  };

  const zoom = (number, factor) => {
    const { view } = views.get(number);
    const name = Object.keys(view.getState().signals).find((each) => each.startsWith("zoom_") && !/tuple|modify|toggle|translate|zoom_/.test(each.slice(5)));
    if (!factor) return view.signal(name, null).runAsync();
    const scale = view.scale("x");
    const [low, high] = scale.range();
    const middle = (low + high) / 2;
    const ends = [low, high].map((at) => scale.invert(middle + (at - middle) * factor));
    return view.signal(name, ends).runAsync();
  };

  const search = (field) => {
    const wanted = field.value.toLowerCase();
    for (const row of document.querySelectorAll(`#${field.dataset.filters} tbody tr`)) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    }
  };

  for (const each of document.querySelectorAll(".needs-script")) each.hidden = false;
  for (const each of document.querySelectorAll("[name=direction]")) {
    each.addEventListener("change", () => choose(each.value));
  }
  for (const each of document.querySelectorAll("[data-zoom]")) {
    each.addEventListener("click", () => zoom(Number(each.dataset.figure), Number(each.dataset.zoom)));
  }
  for (const each of document.querySelectorAll("[data-filters]")) {
    each.addEventListener("input", () => search(each));
  }
  addEventListener("resize", fit);
  document.body.dataset.drawn = "false";
  Promise.all(specs.map(draw)).then(() => { document.body.dataset.drawn = "true"; });
})();
