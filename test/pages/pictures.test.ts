import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { startBrowser } from '../support/api/browser.ts'
import { richFid, seedShowcase, sumUpIncome } from '../support/api/showcase.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { root } from '../support/source-files.ts'
import { testTimeoutMs } from '../support/until.ts'

// `npm run docs:pictures` is this file with the folder of the documentation; otherwise the pictures go nowhere.

/** Agents that were paid. */
const paid = Array.from({ length: 7 }, (_, n) => richFid + 31 * n)

let database: OwnDatabase
let api: TestApi
let browser: Browser
let folder: string
beforeAll(async () => {
  folder = process.env.PICTURES_FOLDER || (await mkdtemp(join(tmpdir(), 'agent-directory-pictures-')))
  database = await createTestDatabase()
  await seedShowcase(database.pool, Date.now())
  await sumUpIncome(database.pool, paid)
  api = await startApi(database)
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await api?.stop()
  await database?.drop()
  if (!process.env.PICTURES_FOLDER) await rm(folder, { recursive: true, force: true })
})

test.each([
  { name: 'directory.png', path: '/', width: 1200, colorScheme: 'light' },
  { name: 'agent.png', path: `/agent/${richFid}`, width: 1200, colorScheme: 'light' },
  { name: 'directory-narrow.png', path: '/', width: 360, colorScheme: 'dark' },
] as const)('$name shows $path at $width px', async ({ name, path, width, colorScheme }) => {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
  page.setDefaultTimeout(testTimeoutMs)
  await page.goto(api.url + path)
  await page.screenshot({ path: join(folder, name) })
  await page.close()
  const written = await sizeOf(join(folder, name))
  expect(written).toEqual({ width, height: 900 })
  expect(await sizeOf(join(root, 'docs/pictures', name))).toEqual(written)
  // A page without its style or its agents is mostly one colour, which PNG makes nothing of.
  expect((await stat(join(folder, name))).size).toBeGreaterThan(leastBytes)
})

const leastBytes = 20_000

/** Width and height as the header of a PNG file says. */
async function sizeOf(file: string): Promise<{ width: number; height: number }> {
  const bytes = await readFile(file)
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}
