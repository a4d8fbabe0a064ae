import "@picocss/pico/css/pico.min.css";
import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/pages.css";
import { render } from "preact";
import { App } from "./app";
import { start } from "./start";

const root = document.getElementById("app");
if (root) {
  start();
  render(<App />, root);
}
