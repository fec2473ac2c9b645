import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiTypes } from '../../tools/api-types.js';

const DESCRIPTION = new URL('../../../docs/openapi.json', import.meta.url).pathname;
const isThere = existsSync(DESCRIPTION);
if (!isThere) {
  const skipped = 'the types of the API are not compared: docs/openapi.json is not there';
  if (process.env.CI === 'true') throw new Error(skipped);
  console.warn(`skipped: ${skipped}`);
}

test.skipIf(!isThere)('the types are those of docs/openapi.json', async () => {
  const types = readFileSync(new URL('../../src/console/api.ts', import.meta.url), 'utf8');
  expect(types === (await apiTypes(DESCRIPTION)), 'api.ts is out of date: npm run api-types').toBe(true);
});
