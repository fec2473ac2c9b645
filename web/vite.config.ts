import { defineConfig } from 'vitest/config';
import { viteSingleFile } from 'vite-plugin-singlefile';

// A single file has a single input, so each page is a build of its own; the first one clears the folder.
export default defineConfig(({ mode }) => ({
  plugins: [viteSingleFile()],
  build: {
    target: 'es2022',
    modulePreload: false,
    emptyOutDir: mode !== 'console',
    rolldownOptions: { input: mode === 'console' ? 'console.html' : 'report.html' },
  },
  test: {
    // The first run compiles the Rust half.
    hookTimeout: 900_000,
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'report', include: ['test/*.test.ts'], globalSetup: 'test/setup.ts' },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['test/console/**/*.test.ts'],
          globalSetup: 'test/console/setup.ts',
        },
      },
    ],
  },
}));
