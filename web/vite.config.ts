import { defineConfig } from 'vitest/config';
import { viteSingleFile } from 'vite-plugin-singlefile';

export default defineConfig({
  plugins: [viteSingleFile()],
  build: {
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: { input: 'report.html' },
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/setup.ts',
    // The first run compiles the Rust half.
    hookTimeout: 900_000,
    testTimeout: 60_000,
  },
});
