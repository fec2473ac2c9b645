// What a console that is open costs the gate, and how soon it is painted:
//
//     node tools/cost.js URL PID [SECONDS]
//
// URL is that of the console, PID the gate's process, which should have nothing else to do meanwhile. Processor time of
// the whole process is read from /proc, first with no console and then with one, in turn, three times.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findChromium, launch } from './browser.js';

const [url, pid, given] = process.argv.slice(2);
const chromium = findChromium();
if (url === undefined || pid === undefined || chromium === undefined) {
  console.error('usage: node tools/cost.js URL PID [SECONDS]; needs Chromium');
  process.exit(2);
}
const seconds = Number(given ?? 60);
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Processor time of the process so far, s (proc(5): utime and stime). */
function used() {
  const stat = readFileSync(`/proc/${pid ?? ''}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

async function share() {
  const before = used();
  await sleep(seconds * 1000);
  return (used() - before) / seconds;
}

/** @param {number} x */
const percent = (x) => `${(100 * x).toFixed(3)} %`;

const browser = await launch(chromium);
try {
  const paints = [];
  for (let i = 0; i < 10; i += 1) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    paints.push(
      await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN),
    );
    await page.close();
  }
  paints.sort((a, b) => a - b);
  console.log(`first contentful paint, ten loads: ${paints.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  for (let i = 0; i < 3; i += 1) {
    const without = await share();
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
    await sleep(5000);
    const open = await share();
    await page.close();
    console.log(
      `without ${percent(without)} of a core, open ${percent(open)}: costs ${percent(open - without)}`,
    );
  }
} finally {
  await browser.close();
}
