"use strict";
(() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const toggles = all("[data-toggle]");
  const groups = all("[data-method]");

  const show = (button, isShown) => {
    button.setAttribute("aria-pressed", String(isShown));
    groups.filter((group) => group.dataset.method === button.dataset.toggle).forEach((group) => group.classList.toggle("off", !isShown));
  };
  // Pointing at a name dims all other lines.
  const point = (name) => groups.forEach((group) => group.classList.toggle("dim", name !== null ? group.dataset.method !== name : false));
  toggles.forEach((button) => {
    const isShown = () => button.getAttribute("aria-pressed") === "true";
    button.addEventListener("click", () => {
      show(button, !isShown());
      point(null);
    });
    button.addEventListener("mouseenter", () => point(isShown() ? button.dataset.toggle : null));
    button.addEventListener("mouseleave", () => point(null));
  });
  all("[data-all]").forEach((button) => {
    button.addEventListener("click", () => toggles.forEach((toggle) => show(toggle, button.dataset.all === "true")));
  });

  // Sorts by number where there is one, else by text. Missing values come last in either order.
  const missing = "–";
  const compare = (a, b, sign) => {
    const [isMissingA, isMissingB] = [a, b].map((cell) => cell.textContent === missing);
    if (isMissingA || isMissingB) return Number(isMissingA) - Number(isMissingB);
    if (a.dataset.key === undefined || b.dataset.key === undefined) return sign * a.textContent.localeCompare(b.textContent);
    const [x, y] = [a, b].map((cell) => Number(cell.dataset.key));
    return x === y ? 0 : sign * (x > y ? 1 : -1);
  };
  all("table").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const isAscending = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => compare(a.cells[column], b.cells[column], isAscending ? 1 : -1));
        table.tBodies[0].append(...rows);
      });
    });
  });
})();
