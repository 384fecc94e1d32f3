import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { hasFocus, startBrowser, tabTo, watch } from '../support/api/browser.ts'
import {
  knownFacilitator,
  paidByAgent,
  richFid,
  seedShowcase,
  seedTrail,
  sumUpIncome,
} from '../support/api/showcase.ts'
import { testDatabase } from '../support/database.ts'
import { countSettlements } from '../support/seed.ts'

// The ways of somebody who has no mouse.

const database = testDatabase()
let api: TestApi
let browser: Browser

beforeAll(async () => {
  const now = Date.now()
  await seedShowcase(database.pool, now)
  await seedTrail(database.pool, now)
  await sumUpIncome(database.pool)
  await countSettlements(database.pool, new Date(now))
  api = await startApi(database, { now: () => now })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await api?.stop()
})

test.each([
  [1280, true],
  [1280, false],
  [360, true],
  [360, false],
])(
  'at %i px, scripts %s, keys alone lead to the content, each step is seen, and what is reached can be pressed',
  async (width, hasScripts) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled: hasScripts })
    const { page } = await watch(context, api.url)
    await page.goto(api.url)
    await page.keyboard.press('Tab')
    const reached = () => page.evaluate<string>('document.activeElement.className || document.activeElement.id')
    expect(await reached()).toBe('skip')
    expect((await page.locator('.skip').first().boundingBox())?.x).toBe(0)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await reached()).toBe('q')
    await page.keyboard.type('tideline')
    await page.keyboard.press('Enter')
    await page.getByText('1 agent', { exact: true }).waitFor()
    const unseen: string[] = []
    for (let n = 0; n < 80 && (await reached()) !== 'name'; n++) {
      await page.keyboard.press('Tab')
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
      if (outline === 'none') unseen.push(await reached())
    }
    expect(unseen).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/agent/${richFid}`)
    // A second link leads past the filters, and the whole list takes few steps.
    const mostRows = 30
    for (const path of [
      '/',
      '/?q=agent',
      '/?chain=Base&claimed=unclaimed',
      '/leaderboard',
      '/leaderboard?by=settlements&period=all',
    ]) {
      await page.goto(api.url + path)
      for (const key of ['Tab', 'Tab', 'Enter', 'Tab']) await page.keyboard.press(key)
      expect([path, await reached()]).toEqual([path, 'name'])
      const [stops = 0, rows = 0] = await page.evaluate<number[]>(`(() => {
      const all = (query) => [...document.querySelectorAll(query)]
      const end = all('.agents > li').at(-1)
      const isBefore = (one) => end.contains(one) || one.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING
      const stops = all('a, button, input:not([type=hidden]), summary').filter((one) => one.checkVisibility() && isBefore(one))
      return [stops.length, all('.agents > li').length]
    })()`)
      expect([path, rows <= mostRows, stops + mostRows - rows <= 60]).toEqual([path, true, true])
    }
    await context.close()
  },
)

test.each([
  [1280, true],
  [360, true],
  [1280, false],
  [360, false],
])(
  'at %i px, scripts %s, keys alone lead from a word of a bio to what the agent earned, who says what of it, and who sent a payment',
  async (width, hasScripts) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled: hasScripts })
    const { page, faults } = await watch(context, api.url)
    const follow = async (target: Locator) => {
      await tabTo(page, target, 200)
      await page.keyboard.press('Enter')
    }
    await page.goto(api.url)
    await tabTo(page, page.getByRole('searchbox'))
    await page.keyboard.type('cents')
    await page.keyboard.press('Enter')
    await page.getByText('1 agent', { exact: true }).waitFor()
    await follow(page.getByRole('link', { name: 'Tideline Research' }))
    await page.waitForURL(`**/agent/${richFid}`)

    const earned = async () => (await page.locator('.numbers .usd').allInnerTexts()).at(-1)
    const without = await earned()
    await follow(page.getByRole('link', { name: 'With self-payments', exact: true }))
    await page.waitForURL(`**/agent/${richFid}?self=with#money`)
    expect(without).toMatch(/^\$[\d,.]+$/)
    expect(await earned()).not.toBe(without)

    const said = page.locator('section', { has: page.getByRole('heading', { name: 'What others say' }) })
    await follow(said.getByRole('row', { name: 'starred, tides' }).getByRole('link', { name: '@ledgerwren' }))
    await page.getByRole('heading', { name: 'Ledger Wren' }).waitFor()
    await page.goto(`${api.url}/tx/${paidByAgent}`)
    await follow(page.getByRole('link', { name: knownFacilitator }).first())
    await page.waitForURL('**/facilitator/*')
    expect(await page.locator('h1').innerText()).toBe(knownFacilitator)

    await page.goto(api.url)
    await follow(page.getByRole('link', { name: 'Most earned' }))
    await page.waitForURL('**/?sort=most-earned')
    const first = page.locator('.agents .name').first()
    expect(await first.innerText()).toBe('Tideline Research')
    for (const key of ['Tab', 'Tab', 'Enter', 'Tab']) await page.keyboard.press(key)
    expect(await hasFocus(page, first)).toBe(true)
    expect(faults).toEqual([])
    await context.close()
  },
)

test.each([1280, 360])('at %i px buttons copy addresses whole, and blocks of text', async (width) => {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page, faults } = await watch(context, api.url)
  const folded = page.locator('#data ~ details summary').first()
  for (const what of ['#standing ~ dl a.hex', '#data ~ details pre']) {
    await page.goto(`${api.url}/agent/${richFid}`)
    if (what.includes('details')) {
      await tabTo(page, folded, 300)
      await page.keyboard.press('Enter')
    }
    const copied = page.locator(what).first()
    await tabTo(page, page.locator(`${what} + .copy`).first(), 300)
    await page.keyboard.press('Enter')
    await page.locator('.copy', { hasText: 'Copied' }).waitFor()
    const whole = (await copied.getAttribute('title')) ?? (await copied.innerText())
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(whole)
  }
  expect(faults).toEqual([])
  await context.close()
})
