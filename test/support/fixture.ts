import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** Folder of recorded data; test/fixtures/README.md has the source of each file. */
export const fixtures = new URL('../fixtures/', import.meta.url)

/** Text of a recorded file, by its path below test/fixtures; one that ends in .gz is unpacked. */
export function readFixture(path: string): string {
  const content = readFileSync(new URL(path, fixtures))
  return (path.endsWith('.gz') ? gunzipSync(content) : content).toString('utf8')
}

/** Value of a recorded JSON file, by its path below test/fixtures. */
export function fixture(path: string) {
  return JSON.parse(readFixture(path))
}
