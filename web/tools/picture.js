// Takes the picture of a report that the README shows: from the headline to the first figure.
// npm run picture -- REPORT.html OUT.png
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromium, launch } from './browser.js';

const [report, out] = process.argv.slice(2);
const chromium = findChromium();
if (report === undefined || out === undefined) {
  console.error('usage: npm run picture -- REPORT.html OUT.png');
  process.exit(2);
}
if (chromium === undefined) {
  console.error('no Chromium found: apt-get install chromium, or set CHROMIUM to its path');
  process.exit(1);
}

const browser = await launch(chromium);
try {
  const page = await browser.newPage({
    viewport: { width: 1120, height: 900 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
  });
  await page.goto(pathToFileURL(resolve(process.env.INIT_CWD ?? '.', report)).href);
  await page.locator('#completed .u-wrap canvas').last().waitFor();
  const figure = await page.locator('#completed').boundingBox();
  const height = figure ? figure.y + figure.height + 24 : 900;
  await page.screenshot({
    path: resolve(process.env.INIT_CWD ?? '.', out),
    fullPage: true,
    clip: { x: 0, y: 0, width: 1120, height },
  });
} finally {
  await browser.close();
}
