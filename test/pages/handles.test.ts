import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimLimits } from '../../config/limits.claims.ts'
import { startBrowser, tabTo, watch } from '../support/api/browser.ts'
import { type ClaimStage, startClaimStage } from '../support/api/claims.ts'
import { textOf } from '../support/api/markup.ts'
import { addressOf, seedAgent } from '../support/seed.ts'

// The handle of an account that is not listed leads to its FID, on the page of the rules and on that of claims.

let stage: ClaimStage
let browser: Browser
beforeAll(async () => {
  stage = await startClaimStage()
  for (const [fid, username] of [
    [77, 'maja'],
    [78, 'moss.eth'],
    [79, 'late'],
  ] as const) {
    stage.hub.state.addAccount({ fid, custody: addressOf(`custody ${fid}`) as `0x${string}` })
    stage.hub.state.setProfile(fid, { username })
  }
  await seedAgent(stage.database.pool, { fid: 7, handle: 'ada' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await stage?.stop()
})

const read = async (path: string, client = '192.0.2.9') =>
  textOf(await (await stage.api.get(path, { headers: { 'x-forwarded-for': client } })).text())

test('a handle that no agent has is asked for at the network, and explained by its FID', async () => {
  for (const q of ['maja', '@Maja']) {
    const page = await read(`/explain?q=${q}`)
    expect(page).toContain('On Farcaster @maja is the account with FID 77.')
    expect(page).toContain('It is not listed')
  }
  expect(await read('/explain?q=@moss.eth')).toContain('@moss.eth is the account with FID 78.')
  const nobody = await read('/explain?q=@nobody-here')
  expect(nobody).toContain('Nobody on Farcaster has the name @nobody-here .')
  expect(nobody).toContain('A FID is the number of an account on Farcaster. You need not know it')
  // What names an agent here, or cannot be a name, is told without asking.
  expect(await read('/explain?q=@ada')).toContain('It is listed')
  expect(await read('/explain?q=two%20words')).toContain('That is neither a FID nor an address.')
})

test('a claim begins with a handle as well as with a FID', async () => {
  const page = await read('/claim?fid=@maja')
  expect(page).toContain('On Farcaster @maja is the account with FID 77.')
  expect(page).toContain('FID 77 is not in the directory yet.')
  expect(page).toContain('2. Prove it')
  expect(await read('/claim?fid=ada')).toContain('2. Prove it')
  const nobody = await read('/claim?fid=nobody-here')
  expect(nobody).toContain('Nobody on Farcaster has the name @nobody-here .')
  expect(nobody).not.toContain('2. Prove it')
  expect(await read('/claim')).toContain('give the user name, such as @ada')
})

test('a client is counted, and a network that is silent is no answer that is kept', async () => {
  const { attempts } = claimLimits.nameLooks.client
  const greedy = '192.0.2.77'
  for (let n = 0; n < attempts; n++) await read(`/explain?q=@nobody-${n}`, greedy)
  expect(await read('/explain?q=@late', greedy)).toContain('Farcaster could not be asked for it just now')
  // Neither another client, nor what was learned before.
  expect(await read('/explain?q=@maja', greedy)).toContain('is the account with FID 77.')
  expect(await read('/explain?q=@late', '192.0.2.78')).toContain('is the account with FID 79.')
  const cut = await stage.another({ hubUrl: 'http://127.0.0.1:1' })
  const page = await (await cut.get('/claim?fid=@maja')).text()
  expect(textOf(page)).toContain('Farcaster could not be asked for it just now')
  expect(page).toContain('aria-invalid="true"')
})

test.each([
  [1280, true],
  [360, true],
  [1280, false],
  [360, false],
])('at %i px, with scripts %s, keys alone lead from a handle to what to do next', async (width, javaScriptEnabled) => {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    javaScriptEnabled,
    extraHTTPHeaders: { 'x-forwarded-for': `192.0.2.${width % 200}` },
  })
  const { page, faults } = await watch(context, stage.api.url)
  await page.goto(`${stage.api.url}/explain`)
  await tabTo(page, page.getByLabel('FID, address or handle'))
  await page.keyboard.type('@maja')
  await page.keyboard.press('Enter')
  await page.getByText('is the account with FID 77.').waitFor()
  await tabTo(page, page.getByRole('link', { name: 'Claim it here' }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '2. Prove it' }).waitFor()
  await tabTo(page, page.getByLabel('FID or handle'))
  await page.keyboard.type('@nobody-here') // in place of the FID: keys select a field as they enter it
  await page.keyboard.press('Enter')
  await page.locator('#fid-problem').getByText('Nobody on Farcaster has the name').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true)
  expect(faults).toEqual([])
  await context.close()
})
