import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findings, startBrowser, watch } from '../support/api/browser.ts'
import { type ClaimStage, startClaimStage } from '../support/api/claims.ts'
import { richFid, seedShowcase, sumUpIncome } from '../support/api/showcase.ts'
import { addressOf, hashOf, seedAgent } from '../support/seed.ts'

/** Twenty pages under axe, on a machine that has other things to do. */
const looksMs = 180_000

const paths = [
  '/',
  `/agent/${richFid}`,
  '/leaderboard',
  '/status',
  `/claim?fid=${richFid}`,
  `/address/${addressOf('showcase 0')}`,
  `/tx/base/${hashOf('tx base 40999136')}`,
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
  '/docs/changelog',
]

let stage: ClaimStage
let browser: Browser

beforeAll(async () => {
  stage = await startClaimStage()
  await seedShowcase(stage.database.pool, stage.clock.now)
  await sumUpIncome(stage.database.pool)
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await stage?.stop()
})

test('a reader searches, filters, turns pages, opens an agent and follows its links', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const { page, faults } = await watch(context, stage.api.url)
  const count = () => page.locator('.count span').innerText()
  await page.goto(stage.api.url)
  expect(await count()).toBe('40 agents, page 1 of 2')
  await page.getByRole('link', { name: 'Next' }).click()
  expect(await count()).toBe('40 agents, page 2 of 2')
  await page.getByRole('link', { name: /^Claimed/ }).click()
  expect(await count()).toBe('3 agents')
  await page.getByRole('searchbox').fill('tide')
  await page.getByRole('button', { name: 'Search' }).click()
  expect(await count()).toBe('1 agent')
  await page.getByRole('link', { name: 'Tideline Research' }).click()
  expect(new URL(page.url()).pathname).toBe(`/agent/${richFid}`)
  expect(await page.locator('.chart').first().locator('rect').count()).toBe(30)
  await page.getByRole('link', { name: 'FID 4300' }).click()
  expect(await page.locator('h1').innerText()).toBe('Quill & Co.')
  expect(faults).toEqual([])
  await context.close()
})

test.each([
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 360 },
] as const)(
  'every page is $scheme at $width px without sideways scrolling, errors or barriers',
  async ({ scheme, width }) => {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 800 } })
    const { page, faults } = await watch(context, stage.api.url)
    const barriers: unknown[] = []
    for (const path of paths) {
      await page.goto(stage.api.url + path)
      const sideways = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      const found = await findings(page)
      if (sideways > 0 || found.length > 0) barriers.push([path, sideways, ...found])
    }
    expect(barriers).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  },
  looksMs,
)

test('an owner chooses a wallet, claims, and withdraws the claim again', async () => {
  const { fid, account, address } = await stage.claimant()
  const context = await browser.newContext()
  const asked: string[] = []
  await context.exposeFunction('askWallet', (name: string, method: string, [message]: string[] = []) => {
    asked.push(`${name} ${method}`)
    if (method === 'eth_requestAccounts') return [address]
    return account.signMessage({ message: { raw: message as `0x${string}` } })
  })
  await context.addInitScript(`
    for (const name of ['Fox', 'Heron']) {
      const provider = { request: ({ method, params }) => askWallet(name, method, params) }
      const detail = Object.freeze({ info: { uuid: name, rdns: 'example.' + name, name, icon: '' }, provider })
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
      addEventListener('eip6963:requestProvider', announce)
    }`)
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

test('a signature made elsewhere is pasted: checked first, then sent', async () => {
  const { fid, account, address } = await stage.claimant()
  const context = await browser.newContext({ viewport: { width: 360, height: 800 } })
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
  // The browser says of a refusal that it was one.
  expect(faults.filter((fault) => !fault.includes('status of 4'))).toEqual([])
  await context.close()
})

test('where a picture does not load, nothing broken shows', async () => {
  const { pool } = stage.database
  const name = { handle: 'picture', displayName: 'Picture' }
  await seedAgent(pool, { ...name, fid: 90_001, pfpUrl: 'https://pictures.example/gone.png' })
  const context = await browser.newContext()
  await context.route('**/picture/90001?*', (route) => route.fulfill({ status: 404, body: 'no' }))
  const page = await context.newPage()
  await page.goto(`${stage.api.url}/agent/90001`, { waitUntil: 'load' })
  const avatar = page.locator('.avatar.large')
  await page.evaluate(`document.querySelector('.avatar.large img').decode().catch(() => {})`)
  const box = (await avatar.boundingBox())!
  const corner = { x: box.x + 14, y: box.y + 14, width: 8, height: 8 }
  const broken = await page.screenshot({ clip: corner })
  // The initial stands where the picture would.
  const middle = { x: box.x + box.width / 2 - 16, y: box.y + box.height / 2 - 16, width: 32, height: 32 }
  const lettered = await page.screenshot({ clip: middle })
  await page.evaluate(`document.querySelector('.avatar.large img').removeAttribute('data-initial')`)
  expect(lettered.equals(await page.screenshot({ clip: middle }))).toBe(false)
  await page.evaluate(`document.querySelector('.avatar.large img').remove()`)
  expect(broken.equals(await page.screenshot({ clip: corner }))).toBe(true)
  await context.close()
})
