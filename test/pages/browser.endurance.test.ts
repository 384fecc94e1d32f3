import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findings, offerWallets, startBrowser, watch } from '../support/api/browser.ts'
import { type ClaimStage, startClaimStage, tokenOf } from '../support/api/claims.ts'
import {
  knownFacilitator,
  paidByAgent,
  richFid,
  seedShowcase,
  seedTrail,
  sumUpIncome,
} from '../support/api/showcase.ts'
import { addressOf, hashOf, seedAgent, seedSettlement } from '../support/seed.ts'
import { root } from '../support/source-files.ts'

/** Script that lists table cells so narrow that their words break. */
const squeezed = `[...document.querySelectorAll('tbody :is(th, td)')]
  .filter((cell) => cell.clientWidth < 72 && cell.clientHeight > 90)
  .map((cell) => 'squeezed: ' + cell.textContent.slice(0, 40))`
/** Script that lists figures whose unit has wrapped to the next line. */
const torn = `[...document.querySelectorAll('.big + .unit')]
  .filter((unit) => unit.offsetTop > unit.previousElementSibling.offsetTop + 12)
  .map((unit) => 'torn: ' + unit.parentElement.textContent.slice(0, 40))`

/** Script that lists tables with named cells (made for narrow screens) that still scroll sideways. */
const wide = `[...document.querySelectorAll('.named')]
  .filter((table) => innerWidth < 736 && table.scrollWidth > table.clientWidth)
  .map((table) => 'wide: ' + table.textContent.slice(0, 40))`

const style = readFileSync(join(root, 'api/pages/assets/style.css'), 'utf8')

/** Timeout in milliseconds for all pages below, each searched by axe twice, on a machine that others keep busy. */
const looksMs = 1_800_000

const paths = [
  '/',
  `/agent/${richFid}`,
  '/leaderboard',
  '/status',
  `/claim?fid=${richFid}`,
  `/address/${addressOf('showcase 0')}`,
  `/tx/base/${hashOf('tx base 40999136')}`,
  `/tx/${paidByAgent}`,
  `/facilitator/${encodeURIComponent(knownFacilitator)}`,
  `/owner/${richFid}`,
  `/explain?q=${richFid}`,
  '/network',
  '/docs',
  '/docs/requests/listAgents',
  '/docs/answers/AgentProfile',
  '/docs/errors',
  '/docs/errors/ERR_RATE_LIMIT',
  '/docs/limits',
  '/docs/graphql',
  '/docs/sql',
  '/docs/changelog',
  '/nowhere-at-all',
  // Pages of an agent whose texts are hostile.
  '/agent/88',
  '/owner/88',
  '/explain?q=88',
  '/claim?fid=88',
  `/address/${addressOf('hostile')}`,
  `/tx/base/${hashOf('tx base 41000001')}`,
]
/** Pages of the list above, asked for something else: without a hit, without an answer yet, with other filters. */
const views = [
  '/?q=nobody-at-all',
  '/?q=tide&chain=Base',
  '/?chain=Base&claimed=claimed&sort=most-active',
  `/agent/${richFid}?range=all&chain=Base&self=with`,
  '/leaderboard?period=all&by=volume&chain=Base&self=with',
  '/network?range=all&chain=Base',
  '/claim',
  '/claim?fid=x',
  `/claim?fid=${richFid}&action=withdraw&address=${addressOf('showcase 0')}`,
  '/explain',
  '/explain?q=nobody',
  '/explain?q=@tideline',
  `/address/${addressOf('nobody')}`,
  `/?q=${addressOf('showcase 0')}`,
  `/?q=${paidByAgent}`,
]
const widths = [1280, 360]
/** Browser options of a reader with this viewport width, and an IP address of its own for the rate limit. */
const readerOf = (width: number) => ({
  viewport: { width, height: 800 },
  extraHTTPHeaders: { 'x-forwarded-for': `192.0.2.${widths.indexOf(width) + 1}` },
})
/** Most bytes that a page may have, before compression. */
const mostBytes = 60_000

let stage: ClaimStage
let browser: Browser

beforeAll(async () => {
  stage = await startClaimStage()
  await seedShowcase(stage.database.pool, stage.clock.now)
  await seedHostile()
  await seedTrail(stage.database.pool, stage.clock.now)
  await sumUpIncome(stage.database.pool)
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await stage?.stop()
})

/** Seeds agent 88: markup, bidi controls, ten thousand characters without a space, twenty thousand registrations. */
async function seedHostile() {
  const { pool } = stage.database
  const name = `\u202e"><script>alert(1)</script>${'W'.repeat(10_000)}`
  const address = addressOf('hostile')
  await seedAgent(pool, { fid: 88, handle: name, displayName: name, bio: name, oli: name, addresses: [address] })
  const paid = { chain: 'base', recipient: address, block: 41_000_001, at: new Date(stage.clock.now - 1_000) } as const
  for (let logIndex = 0; logIndex < 60; logIndex++) await seedSettlement(pool, { ...paid, logIndex })
  const held = [88, Buffer.from(address.slice(2), 'hex'), new Date(stage.clock.now - 2_000)]
  await pool.query(
    `with registered as (
       insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                                 acquired_block, acquired_at, updated_block, updated_at)
       select 'gnosis-' || n, 'gnosis', n, $2, false, 1, $3, '\\x00', 1, $3, 1, $3 from generate_series(100000, 119999) n)
     insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, unsolicited)
     select $1, 'gnosis', n, $2, 1, 0, $3, n > 100020 from generate_series(100000, 119999) n`,
    held,
  )
  await pool.query('update agent set current_total = 20000 where fid = 88')
}

test.each(widths)(
  'at %i px a reader searches, filters, turns pages, opens an agent and follows its links',
  async (width) => {
    const context = await browser.newContext({ ...readerOf(width), javaScriptEnabled: false })
    const { page, faults } = await watch(context, stage.api.url)
    const count = () => page.locator('.count span').innerText()
    await page.goto(stage.api.url)
    expect(await count()).toBe('41 agents, page 1 of 2')
    await page.getByRole('link', { name: 'Next' }).click()
    expect(await count()).toBe('41 agents, page 2 of 2')
    await page.getByRole('link', { name: /^Claimed/ }).click()
    expect(await count()).toBe('3 agents')
    await page.getByRole('searchbox').fill('tide')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(await count()).toBe('1 agent')
    await page.getByRole('link', { name: 'Tideline Research' }).click()
    expect(new URL(page.url()).pathname).toBe(`/agent/${richFid}`)
    // Its income is all from settlements, so there is no second chart of the same.
    expect(await page.locator('.chart rect').count()).toBe(30)
    await page.getByRole('link', { name: 'FID 4300' }).click()
    expect(await page.locator('h1').innerText()).toBe('Quill & Co.')
    expect(faults).toEqual([])
    await context.close()
  },
)

/** Rules of axe that colours decide, of which alone the light theme has others than the dark one. */
const ofColours = ['color-contrast', 'link-in-text-block']

test('the themes differ in colours alone', () => {
  const [, dark = '', ...more] = style.split('@media (prefers-color-scheme: dark) {')
  const rules = dark.slice(0, dark.indexOf('\n}'))
  expect(rules.replaceAll(/--[a-z-]+: #[0-9a-f]{6};|\s/g, '')).toBe(':root{}')
  expect(more).toEqual([])
})

test.each(widths)(
  'every page is without sideways scrolling, errors or barriers at %i px, dark and light',
  { timeout: looksMs },
  async (width) => {
    const context = await browser.newContext({ ...readerOf(width), colorScheme: 'dark', reducedMotion: 'reduce' })
    const { page, faults } = await watch(context, stage.api.url)
    await context.addInitScript(`
      globalThis.shifted = 0
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) globalThis.shifted += value
      }).observe({ type: 'layout-shift', buffered: true })`)
    const barriers: string[] = []
    for (const path of [...paths, ...views]) {
      const answer = await page.goto(stage.api.url + path)
      const bytes = (await answer?.body())?.length ?? 0
      if (bytes === 0 || bytes > mostBytes) barriers.push(`${path}: ${bytes} bytes`)
      const sideways = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      const found = await page.evaluate<string[]>(`${squeezed}.concat(${torn}, ${wide})`)
      found.push(...(await findings(page)).map((one) => `dark: ${one}`))
      await page.emulateMedia({ colorScheme: 'light' })
      found.push(...(await findings(page, ofColours)).map((one) => `light: ${one}`))
      await page.emulateMedia({ colorScheme: 'dark' })
      const shifted = await page.evaluate<number>('globalThis.shifted')
      if (shifted > 0) barriers.push(`${path}: shifts by ${shifted}`)
      if (sideways > 0) barriers.push(`${path}: ${sideways} pixels sideways`)
      barriers.push(...found.map((one) => `${path}: ${one}`))
    }
    expect(barriers, barriers.join('\n')).toEqual([])
    // The browser logs the 404 of the page that is not there.
    expect(faults.filter((fault) => !fault.includes('status of 404'))).toEqual([])
    await context.close()
  },
)

test('at 1280 px an example of GraphQL and of SQL is whole without being moved', async () => {
  const context = await browser.newContext(readerOf(1280))
  const { page } = await watch(context, stage.api.url)
  for (const path of ['/docs/graphql', '/docs/sql']) {
    await page.goto(stage.api.url + path)
    const hidden = await page.evaluate<number[]>(
      `[...document.querySelectorAll('pre')].map((block) => block.scrollWidth - block.clientWidth)`,
    )
    expect([path, hidden.length > 0, hidden.filter((pixels) => pixels > 0)]).toEqual([path, true, []])
  }
  await context.close()
})

test.each(widths)('at %i px an owner chooses a wallet, claims, and withdraws the claim again', async (width) => {
  const { fid, account, address } = await stage.claimant()
  const context = await browser.newContext(readerOf(width))
  const asked: string[] = []
  await offerWallets(context, ['Fox', 'Heron'], (name, method, [message]) => {
    asked.push(`${name} ${method}`)
    if (method === 'eth_requestAccounts') return [address]
    return account.signMessage({ message: { raw: message as `0x${string}` } })
  })
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/claim`)
  await page.getByLabel('FID').fill(String(fid))
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.getByRole('button', { name: /^Sign with/ }).allInnerTexts()).toEqual([
    'Sign with Fox',
    'Sign with Heron',
  ])
  await page.getByRole('button', { name: 'Sign with Heron' }).click()
  await page.getByRole('link', { name: 'See the page of your agent' }).waitFor()
  expect(await page.locator('#done code').innerText()).toContain(`/badge/${fid}.svg`)
  await page.getByRole('link', { name: 'See the page of your agent' }).click()
  await page.waitForURL(`**/agent/${fid}`)
  expect(await page.locator('.profile').innerText()).toContain('Claimed')
  await page.goto(`${stage.api.url}/claim?fid=${fid}&action=withdraw`)
  await page.getByRole('button', { name: 'Sign with Fox' }).click()
  await page.getByText('Withdrawn.').waitFor()
  expect(asked).toEqual([
    'Heron eth_requestAccounts',
    'Heron personal_sign',
    'Fox eth_requestAccounts',
    'Fox personal_sign',
  ])
  expect(faults).toEqual([])
  await context.close()
})

test.each(widths)('at %i px a signature made elsewhere is pasted: checked first, then sent', async (width) => {
  const { fid, account, address } = await stage.claimant()
  const context = await browser.newContext(readerOf(width))
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/claim?fid=${fid}&address=${address}`)
  expect(await page.locator('#wallet').isVisible()).toBe(false)
  const text = await page.locator('#message pre').first().innerText()
  const field = page.getByLabel('The signature')
  await field.fill(await account.signMessage({ message: `${text} ` }))
  await page.locator('#message').getByRole('button', { name: 'Check' }).click()
  await page.getByText('Refused: ').waitFor()
  await field.fill(await account.signMessage({ message: text }))
  await page.locator('#message').getByRole('button', { name: 'Check' }).click()
  await page.getByText('Every check holds.').waitFor()
  await page.locator('#message').getByRole('button', { name: 'Send and claim' }).click()
  await page.getByRole('link', { name: 'See the page of your agent' }).waitFor()
  // The browser logs the refused request.
  expect(faults.filter((fault) => !fault.includes('status of 4'))).toEqual([])
  await context.close()
})

test.each(widths)('at %i px a token of an app key is pasted, and a manifest is served and looked at', async (width) => {
  const { fid, appKey } = await stage.claimant()
  const context = await browser.newContext(readerOf(width))
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/claim?fid=${fid}`)
  const card = (title: string) => page.locator('details.card').filter({ hasText: title })
  const token = card('With an app key')
  await token.locator('summary').click()
  const [header = '', payload = ''] = await token.locator('pre').allInnerTexts()
  const field = page.getByLabel('header.payload.signature')
  await field.fill(tokenOf(appKey.secret, header.replace('0x…', appKey.publicKey), payload))
  await token.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Every check holds.').waitFor()
  await token.getByRole('button', { name: 'Send and claim' }).click()
  await page.getByRole('link', { name: 'See the page of your agent' }).waitFor()

  const other = await stage.claimant()
  const { name: host } = stage.host
  stage.hub.state.setProfile(other.fid, { url: `https://${host}` })
  await page.goto(`${stage.api.url}/claim?fid=${other.fid}`)
  const file = card('With a file on the agent’s host')
  await file.locator('summary').click()
  await page.getByLabel('Your host').fill(host)
  await file.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Refused: ').waitFor()
  const manifest = JSON.parse(await file.locator('pre').first().innerText()) as object
  const body = { ...manifest, host, addresses: [other.address] }
  stage.host.pages.set('/.well-known/agent-directory.json', { body })
  await file.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Every check holds.').waitFor()
  await file.getByRole('button', { name: 'Send and claim' }).click()
  await page.getByRole('link', { name: 'See the page of your agent' }).click()
  await page.waitForURL(`**/agent/${other.fid}`)
  expect(await page.locator('.profile').innerText()).toContain('Claimed')
  expect(faults.filter((fault) => !fault.includes('status of 4'))).toEqual([])
  await context.close()
})

test.each(widths)('at %i px the reference sends a request and shows the answer, digit by digit', async (width) => {
  const context = await browser.newContext(readerOf(width))
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/docs`)
  await page.getByRole('link', { name: 'GET /api/agent/{fid}/settlements', exact: true }).click()
  await page.getByLabel('fid', { exact: true }).fill(String(richFid))
  await page.getByLabel('limit', { exact: true }).fill('1')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText(`200 of /api/agent/${richFid}/settlements?limit=1`).waitFor()
  const answer = JSON.parse(await page.locator('form .answer').innerText()) as { settlements: unknown[] }
  expect(answer.settlements).toHaveLength(1)
  await page.getByLabel('fid', { exact: true }).fill('x')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('400 of /api/agent/x/settlements?limit=1').waitFor()
  expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
  await context.close()
})

test.each(widths)('at %i px a settlement appears on the page of the network as it comes', async (width) => {
  const context = await browser.newContext(readerOf(width))
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/network?chain=Celo`)
  await page.getByText('New ones appear while you look.').waitFor()
  const paid = { recipient: addressOf('live'), block: width, at: new Date(stage.clock.now - 1_000), amount: 1_234_567n }
  await seedSettlement(stage.database.pool, { ...paid, chain: 'base' })
  await seedSettlement(stage.database.pool, { ...paid, chain: 'celo' })
  const row = page.locator(`#live-rows tr[id^="settlement-celo-${width}-"]`)
  await row.waitFor()
  expect(await row.innerText()).toMatch(/\$1\.23\s+Celo\s/)
  expect(await row.locator('a').last().getAttribute('href')).toBe(`/tx/celo/${hashOf(`tx celo ${width}`)}`)
  expect(await page.locator(`#live-rows tr[id^="settlement-base-${width}-"]`).count()).toBe(0)
  expect(faults).toEqual([])
  await context.close()
})
