import { execFileSync } from 'node:child_process';

/** Builds the page of now, unless a caller has just done that (as for the report, see test/setup.ts). */
export default function setup(): void {
  if (process.env.FIXTURE !== undefined) return;
  execFileSync('npx', ['vite', 'build', '--mode', 'console', '--logLevel', 'warn'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
