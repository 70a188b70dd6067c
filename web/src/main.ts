import { mount } from "svelte";
import App from "./app/App.svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/content.css";

const target = document.getElementById("app");
if (!target) throw new Error("index.html has no #app");
mount(App, { target });
