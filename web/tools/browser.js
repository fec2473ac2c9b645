import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is; `CHROMIUM` overrides the places where distributions put it. */
export function findChromium() {
  return [process.env.CHROMIUM ?? '', ...CANDIDATES].find((path) => path !== '' && existsSync(path));
}

/**
 * Starts Chromium with a fresh profile and without anything that talks to the outside.
 * @param {string} executablePath
 */
export async function launch(executablePath) {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
