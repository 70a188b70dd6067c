import { mount } from "svelte";
import App from "./app/App.svelte";
import { keepSheets } from "./app/sheets";
import { showTheme } from "./state/theme.svelte";
import "./styles/tokens.css";
import "./styles/fonts.css";
import "./styles/base.css";
import "./styles/content.css";

keepSheets();
showTheme();
const target = document.getElementById("app");
if (!target) throw new Error("index.html has no #app");
mount(App, { target });
