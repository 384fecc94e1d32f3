import type { Browser } from 'playwright-core'
import { type Hex, hexToString, padHex, serializeErc6492Signature } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import type { TestApi } from '../support/api/api.ts'
import { findings, hasFocus, offerWallets, startBrowser, tabTo, watch } from '../support/api/browser.ts'
import { type Claimant, type ClaimStage, startClaimStage } from '../support/api/claims.ts'
import { countSettlements, insert, seedAgent, seedSettlement } from '../support/seed.ts'
import { testTimeoutMs } from '../support/until.ts'

// Claims of a contract wallet on another chain than the network's own, and of an agent that its owner finds in a ranking.

let stage: ClaimStage
let ethereum: DevChain
let api: TestApi
let browser: Browser
beforeAll(async () => {
  stage = await startClaimStage()
  ethereum = await startDevChain('ethereum')
  api = await stage.another({ rpcs: { ethereum: ethereum.rpc } })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await stage?.stop()
  await ethereum?.stop()
})

const widths = [1280, 360]
const waits = { timeout: testTimeoutMs }
const readerOf = (width: number) => ({
  viewport: { width, height: 800 },
  extraHTTPHeaders: { 'x-forwarded-for': `192.0.2.${widths.indexOf(width) + 1}` },
})

/**
 * A contract wallet on Ethereum that the claimant's key owns and the account verifies, as the directory has read it. If
 * deployed (`isThere`) it signs as ERC-1271 says, otherwise as ERC-6492 says.
 */
async function verifiedWallet({ fid, account }: Claimant, isThere: boolean) {
  const salt = padHex(isThere ? '0x01' : '0x02')
  const call = createWallet(ethereum, account.address, salt)
  if (isThere) await ethereum.execute(funder, call)
  const address = (await walletOf(ethereum, account.address, salt)).toLowerCase() as Hex
  const wrap = (signature: Hex) =>
    isThere ? signature : serializeErc6492Signature({ address: call.to, data: call.data, signature })
  const hash = verificationDigest({ fid, address, blockHash: blockHashOf(address) }, ethereum.chainId)
  const walletSignature = wrap(await account.sign!({ hash }))
  stage.hub.state.addVerification(fid, address, { contractChain: ethereum.chainId, walletSignature })
  await insert(stage.database.pool, 'verified_address', {
    fid,
    address: Buffer.from(address.slice(2), 'hex'),
    verified_at: new Date(stage.clock.now),
    verification_type: 1,
    verification_chain: ethereum.chainId,
    verdict: 'signed',
  })
  return { address, sign: async (message: Hex) => wrap(await account.signMessage({ message: { raw: message } })) }
}

test.each([
  ['that is there', 1280, true],
  ['that is not created yet', 360, false],
])(
  'a contract wallet %s claims and withdraws at %i px, for the chain that its verification names',
  async (...given) => {
    const [, width, isThere] = given
    const claimant = await stage.claimant()
    const { fid } = claimant
    const wallet = await verifiedWallet(claimant, isThere)
    const context = await browser.newContext(readerOf(width))
    const signed: string[] = []
    await offerWallets(context, ['Safe'], (_, method, [message]) => {
      if (method === 'eth_requestAccounts') return [wallet.address]
      signed.push(hexToString(message as Hex))
      return wallet.sign(message as Hex)
    })
    const { page, faults } = await watch(context, api.url)
    await page.goto(`${api.url}/claim`)
    await page.getByLabel('FID').fill(String(fid))
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('works: contract wallet on Eth').waitFor()
    await page.getByRole('button', { name: 'Sign with Safe' }).click()
    await page.getByText('Claimed.').waitFor()
    await page.goto(`${api.url}/claim?fid=${fid}&action=withdraw`)
    await page.getByRole('button', { name: 'Sign with Safe' }).click()
    // An account that nothing but its claim listed has no page then, and no link leads there.
    await page.getByText('Withdrawn. Nothing else lists it, so its page is gone.').waitFor()
    expect(await page.locator('#outcome a').count()).toBe(0)
    expect((await api.get(`/agent/${fid}`)).status).toBe(404)
    expect(signed).toEqual([
      expect.stringMatching(new RegExp(`Claim FID ${fid} on [^]*Chain ID: 1\n`)),
      expect.stringMatching(new RegExp(`Withdraw the claim of FID ${fid} on [^]*Chain ID: 1\n`)),
    ])

    // The same text, signed elsewhere and pasted; a claim has to be later than the withdrawal.
    stage.clock.now += 1_000
    await page.goto(`${api.url}/claim?fid=${fid}&address=${wallet.address}`)
    const text = await page.locator('#message pre').first().innerText()
    expect(text).toContain('Chain ID: 1\n')
    await page.getByLabel('The signature').fill(await wallet.sign(`0x${Buffer.from(text).toString('hex')}`))
    await page.locator('#message').getByRole('button', { name: 'Check' }).click()
    await page.getByText('Every check holds.').waitFor()
    await page.locator('#message').getByRole('button', { name: 'Send and claim' }).click()
    await page.getByText('Claimed.').waitFor()
    expect(faults).toEqual([])
    await context.close()
  },
)

test.each(widths)(
  'at %i px keys alone claim: the answer stands under its button, and the form gives way',
  async (width) => {
    const { fid, account, address } = await stage.claimant()
    const context = await browser.newContext({
      ...readerOf(width),
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page, faults } = await watch(context, stage.api.url)
    await page.goto(`${stage.api.url}/claim?fid=${fid}&address=${address}`)
    const outcome = page.locator('#outcome')
    const look = () => page.evaluate<string>('getComputedStyle(document.getElementById("outcome")).borderLeftColor')
    const card = page.locator('#message')
    const check = card.getByRole('button', { name: 'Check' })
    expect(await outcome.isVisible()).toBe(false)
    await tabTo(page, card.locator('pre + .copy').first())
    await page.keyboard.press('Enter')
    await card.locator('.copy', { hasText: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    await tabTo(page, page.getByLabel('The signature'))
    await page.keyboard.type('0x12')
    await tabTo(page, check)
    await page.keyboard.press('Enter')
    await outcome.getByText(/^Refused: /).waitFor()
    expect(await hasFocus(page, outcome)).toBe(true)
    expect(await card.locator('form.paste + #outcome').count()).toBe(1)
    const refused = await look()
    expect(await findings(page)).toEqual([])

    const text = await card.locator('pre').first().innerText()
    expect(copied).toBe(text)
    await page.keyboard.press('Shift+Tab') // back to what the answer is about
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText(await account.signMessage({ message: text }))
    await tabTo(page, check)
    await page.keyboard.press('Enter')
    await outcome.getByText('Every check holds.').waitFor()
    expect(await look()).not.toBe(refused)
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await outcome.getByText('Claimed.').waitFor()
    expect(await hasFocus(page, outcome)).toBe(true)
    expect(await page.locator('#claim .card:visible, #works:visible').count()).toBe(0)
    await page.getByRole('img', { name: `How FID ${fid} stands in the directory` }).waitFor() // it comes after the text
    expect(await findings(page)).toEqual([])
    await tabTo(page, outcome.getByRole('link', { name: 'See the page of your agent' }))
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/agent/${fid}`)
    await tabTo(page, page.getByRole('link', { name: 'Yours? Manage the claim' }))
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'withdraw the claim' }).waitFor()
    // The browser logs the refused request.
    expect(faults.filter((fault) => !fault.includes('status of 4'))).toEqual([])
    await context.close()
  },
)

test.each(widths)(
  'at %i px a clock says how long the text is taken, and leads to a new one at its end',
  async (width) => {
    const { fid, address } = await stage.claimant()
    const context = await browser.newContext(readerOf(width))
    const { page, faults } = await watch(context, stage.api.url)
    await page.clock.install()
    await page.goto(`${stage.api.url}/claim?fid=${fid}&address=${address}`)
    const clock = page.locator('#message .clock')
    const nonce = await page.locator('#claim').getAttribute('data-nonce')
    await page.clock.runFor('10:00')
    expect(await clock.getByRole('timer').innerText()).toMatch(/^(5:00|4:\d\d) left\.$/)
    await page.clock.runFor('05:00')
    expect(await clock.innerText()).toBe('Its time is over: what is signed with it is refused. Make a new one')
    await tabTo(page, clock.getByRole('link'))
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#claim').getAttribute('data-nonce'), waits).not.toBe(nonce)
    expect(faults).toEqual([])
    await context.close()
  },
)

test.each(widths)(
  'at %i px and without scripts the page has the text, its end, and the command that sends it',
  async (width) => {
    const { fid, account, address } = await stage.claimant()
    const context = await browser.newContext({ ...readerOf(width), javaScriptEnabled: false })
    const { page, faults } = await watch(context, stage.api.url)
    await page.goto(`${stage.api.url}/claim?fid=${fid}`)
    await page.getByLabel('Address').fill(address)
    await page.keyboard.press('Enter')
    const card = page.locator('#message')
    await card.getByText(/It is taken until .*\./).waitFor()
    expect(await card.locator('.paste, #outcome').first().isVisible()).toBe(false)
    const [text = '', command = ''] = await card.locator('pre').allInnerTexts()
    const body = /-d '(.*)'/.exec(command)?.[1]?.replace('0x…', await account.signMessage({ message: text }))
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.30' }
    const answer = await stage.api.get('/api/claim', { method: 'POST', headers, body: body ?? '' })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ fid, claimed: true })])
    expect(faults).toEqual([])
    await context.close()
  },
)

test.each(widths)(
  'at %i px an owner finds the agent in the leaderboard, and claims it from its page',
  async (width) => {
    const { pool } = stage.database
    const { fid, account, address } = await stage.claimant()
    await seedAgent(pool, { fid, handle: `ranked-${width}`, displayName: `Ranked ${width}`, addresses: [address] })
    const at = new Date(stage.clock.now - 86_400_000)
    await seedSettlement(pool, { chain: 'base', recipient: address, block: width, at })
    await countSettlements(pool)
    await refreshRankings({ pool, now: () => new Date(stage.clock.now), settlementOverloads: 'spec' })
    stage.clock.now += 120_000 // past the time for which the ranking is cached
    const context = await browser.newContext(readerOf(width))
    await offerWallets(context, ['Fox'], (_, method, [message]) =>
      method === 'eth_requestAccounts' ? [address] : account.signMessage({ message: { raw: message as Hex } }),
    )
    const { page, faults } = await watch(context, api.url)
    await page.goto(`${api.url}/leaderboard?by=settlements`)
    await page.getByRole('link', { name: `Ranked ${width}` }).click()
    await page.waitForURL(`**/agent/${fid}`)
    await page.locator('main').getByRole('link', { name: /claim/i }).first().click()
    await page.waitForURL(`**/claim?fid=${fid}`)
    await page.getByRole('button', { name: 'Sign with Fox' }).click()
    await page.getByText('others can see it as it was for up to a minute').waitFor()
    const badge = await (await api.get(`/badge/${fid}.svg`)).text()
    expect(badge).toContain('>claimed, ')
    const shown = page.locator(`#done img[src="/badge/${fid}.svg"]`)
    const widthOfBadge = Number(/ width="(\d+)"/.exec(badge)?.[1])
    await expect
      .poll(() => shown.evaluate((image: { naturalWidth: number }) => image.naturalWidth), waits)
      .toBe(widthOfBadge)
    // The browser has this page in its cache as unclaimed: it has to be made to fetch it again.
    await page.getByRole('link', { name: 'See the page of your agent' }).click()
    await page.waitForURL(`**/agent/${fid}`)
    expect(await page.locator('.profile').innerText()).toContain('Claimed')
    expect(faults).toEqual([])
    await context.close()
  },
)
