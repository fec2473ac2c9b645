// Takes the picture of a report that the README shows: from the headline to the first figure.
// npm run picture -- REPORT.html OUT.png
// Or pictures of a gate's console, from a telephone to a wall, in the light and in the dark.
// npm run picture -- http://127.0.0.1:9090/console FOLDER
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromium, launch } from './browser.js';

const WIDTHS = [320, 768, 1280, 3840];

const [what, out] = process.argv.slice(2);
const chromium = findChromium();
if (what === undefined || out === undefined) {
  console.error('usage: npm run picture -- REPORT.html OUT.png, or npm run picture -- URL-OF-CONSOLE FOLDER');
  process.exit(2);
}
if (chromium === undefined) {
  console.error('no Chromium found: apt-get install chromium, or set CHROMIUM to its path');
  process.exit(1);
}

/** @param {string} path */
const given = (path) => resolve(process.env.INIT_CWD ?? '.', path);

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} report
 * @param {string} path
 */
async function ofReport(browser, report, path) {
  const page = await browser.newPage({
    viewport: { width: 1120, height: 900 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
  });
  await page.goto(pathToFileURL(given(report)).href);
  await page.locator('#completed .u-wrap canvas').last().waitFor();
  const figure = await page.locator('#completed').boundingBox();
  const height = figure ? figure.y + figure.height + 24 : 900;
  await page.screenshot({
    path: given(path),
    fullPage: true,
    clip: { x: 0, y: 0, width: 1120, height },
  });
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {string} folder
 */
async function ofConsole(browser, url, folder) {
  for (const width of WIDTHS) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const height = width > 2000 ? 2160 : 900;
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await page.goto(url);
      await page.locator('.verdict[data-severity]').waitFor();
      await page.getByText('Show the queue').click();
      await page.locator('#knob-differentiation').fill('0.6');
      await page.locator('.curves .u-wrap canvas').last().waitFor();
      await page.locator('#queue tbody tr').first().waitFor();
      await page.screenshot({
        path: join(given(folder), `console-${width}-${colorScheme}.png`),
        fullPage: true,
      });
      await page.close();
    }
  }
}

const browser = await launch(chromium);
try {
  if (/^https?:/.test(what)) await ofConsole(browser, what, out);
  else await ofReport(browser, what, out);
} finally {
  await browser.close();
}
