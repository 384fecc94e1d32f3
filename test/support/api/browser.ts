import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { testTimeoutMs } from '../until.ts'

/** Starts the system's chromium without background requests, with user data that is removed afterwards. */
export function startBrowser(): Promise<Browser> {
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update']
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    timeout: testTimeoutMs,
    args: ['--no-sandbox', '--disable-gpu', '--disable-sync', ...quiet],
  })
}

/** A page with the faults it has shown. */
interface Watched {
  readonly page: Page
  /** Errors on the console, and requests to other hosts than the one given. */
  readonly faults: string[]
}

export async function watch(context: BrowserContext, url: string): Promise<Watched> {
  context.setDefaultTimeout(testTimeoutMs)
  const page = await context.newPage()
  const faults: string[] = []
  const { host } = new URL(url)
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    if (new URL(request.url()).host !== host) faults.push(`asks ${request.url()}`)
  })
  return { page, faults }
}

/** Presses Tab until the element has the focus, as somebody without a mouse does; at most so many times. */
export async function tabTo(page: Page, target: Locator, most = 60): Promise<void> {
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press('Tab')
    if (await hasFocus(page, target)) return
  }
  throw new Error(`Tab does not lead to ${target}`)
}

export const hasFocus = async (page: Page, target: Locator): Promise<boolean> =>
  (await target.and(page.locator(':focus')).count()) === 1

/** Adds wallets to the browser that announce themselves (EIP-6963) and give accounts and signatures only. */
export async function offerWallets(
  context: BrowserContext,
  names: readonly string[],
  answer: (name: string, method: string, params: string[]) => unknown,
): Promise<void> {
  await context.exposeFunction('askWallet', (name: string, method: string, params: string[] = []) =>
    answer(name, method, params),
  )
  await context.addInitScript(`
    for (const name of ${JSON.stringify(names)}) {
      const provider = { request: ({ method, params }) => askWallet(name, method, params) }
      const detail = Object.freeze({ info: { uuid: name, rdns: 'example.' + name, name, icon: '' }, provider })
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
      addEventListener('eip6963:requestProvider', announce)
    }`)
}

/**
 * Accessibility violations that axe finds, as `rule: element (reason)`. A context whose colour scheme changes needs
 * `reducedMotion`: a link in transition from the dark to the light colours has too little contrast. `rules`: only these.
 */
export async function findings(page: Page, rules?: string[]): Promise<string[]> {
  // Our pages have no frames, so the legacy mode finds the same in half the time. Passed rules are not described.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  if (rules) axe.withRules(rules)
  const { violations } = await axe.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any: [check] }) => `${id}: ${target.join(' ')} (${check?.message ?? ''})`),
  )
}
