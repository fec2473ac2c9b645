import { execFileSync, type StdioOptions } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A report made by the crate `report` from an experiment with made-up figures. */
    experiment: string;
    /** And one from a single run: a ramp. */
    run: string;
    /** A run that does not count, and that was not a ramp. */
    late: string;
    /** Two searches for the capacity, one of which does not count. */
    searches: string;
    /** A sweep of the simulator. */
    simulation: string;
    /** A single simulation. */
    simulated: string;
    /** Two watches side by side. */
    watches: string;
    /** The figures of the ramp: its `summary.json`. */
    summary: string;
  }
}

/** Has the Rust half fill the page as it would for a user: the program FIXTURE, or what is built here with the page of now. */
export default function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'headworks-report-'));
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit'];
  if (process.env.FIXTURE === undefined) {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio });
    const fixture = ['run', '--quiet', '--package', 'report', '--example', 'fixture', '--', directory];
    execFileSync('cargo', fixture, { cwd: '..', stdio });
  } else {
    execFileSync(process.env.FIXTURE, [directory], { stdio });
  }
  project.provide('experiment', join(directory, 'experiment', 'report.html'));
  project.provide('run', join(directory, 'run', 'report.html'));
  project.provide('late', join(directory, 'late', 'report.html'));
  project.provide('searches', join(directory, 'searches', 'report.html'));
  project.provide('simulation', join(directory, 'simulation', 'report.html'));
  project.provide('simulated', join(directory, 'simulated', 'report.html'));
  project.provide('watches', join(directory, 'watches', 'report.html'));
  project.provide('summary', join(directory, 'run', 'summary.json'));
  return () => {
    rmSync(directory, { recursive: true, force: true });
  };
}
