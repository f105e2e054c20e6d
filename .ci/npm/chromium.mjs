// Unpacks the Chromium of npm and prints its path.
import chromium from "@sparticuz/chromium";

console.log(await chromium.executablePath());
