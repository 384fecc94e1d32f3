import { chainNames, chainOf } from '../../../config/chains.ts'
import type { Addresses } from '../agent/standing.ts'
import { shortened } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { ownAddress } from '../parts/links.ts'
import { day } from '../parts/times.ts'
import { hostLine, type NamedHost } from './hosts.ts'

/** A verified address, and whether it can sign a claim. */
export interface Signer {
  readonly address: string
  /** Why it cannot carry a claim now; undefined: it can, as far as the directory knows. */
  readonly problem: string | undefined
  /** Chain of the contract wallet, as its verification names it; null: a plain key, or not known. */
  readonly chainId: number | null
}

/** Most addresses, and most app keys, shown for one account. */
const mostShown = 10

/** The `live` addresses, which the account verifies now, as signers. `wallets`: chain id of each contract wallet. */
export function signersOf(
  live: readonly string[],
  known: Addresses | undefined,
  wallets: ReadonlyMap<string, number>,
): Signer[] {
  return live.map((address) => {
    const one = known?.addresses.find((other) => other.address === address)
    const problem = one?.before_custody
      ? 'it was verified before the account last changed hands; verify it again'
      : one?.disputed
        ? 'another hub of the network does not know its verification; we will look again'
        : one?.verdict === 'stated'
          ? 'part of its verification cannot be checked here'
          : undefined
    return { address, problem, chainId: wallets.get(address) ?? null }
  })
}

/** Section on which methods would be accepted for the account now, and why the others would not. */
export function whatWorks(signers: readonly Signer[], known: Addresses | undefined, hosts: readonly NamedHost[]): Html {
  const usable = signers.filter(({ problem }) => problem === undefined)
  const keys = appKeysOf(known)
  return html`<section aria-labelledby="works"><h2 id="works">What works for this account now</h2>
<ol class="steps">
<li class="${usable.length > 0 ? 'done' : 'open'}"><p><strong>A signature by a verified address</strong></p>
${
  signers.length === 0
    ? html`<p class="sub">We know of no verified address. If the account has just verified one, this works anyway: the claim asks the network.</p>`
    : html`<ul class="plain">${signers.slice(0, mostShown).map(signer)}</ul>`
}</li>
<li class="${keys.length > 0 ? 'done' : 'open'}"><p><strong>An app key</strong></p>
${
  keys.length > 0
    ? html`<ul class="plain">${keys.map(
        ({ key, checked_at }) =>
          html`<li><span class="hex" title="${key}">${shortened(key)}</span> <span class="sub">in the KeyRegistry as of ${day(checked_at)}</span></li>`,
      )}</ul>`
    : html`<p class="sub">We know of no key of this account in the KeyRegistry. If an app has one, this works anyway: the claim asks the chain.</p>`
}<p class="sub">Any app key that the KeyRegistry lists as active for the account will do; custody and auth keys will not.</p></li>
<li class="${hosts.some(({ manifest }) => manifest?.state === 'ready') ? 'done' : 'open'}"><p><strong>A file on a host</strong></p>
${hosts.length > 0 ? html`<ul class="plain">${hosts.map(hostLine)}</ul>` : html`<p class="sub">Neither the profile nor a registration names a host, as far as we know. If one has just begun to, this works anyway: the claim looks again.</p>`}
<p class="sub">A host that serves a signed accountAssociation of the account will do, too.${
    usable.length === 0 && ' The file has to name verified addresses.'
  }</p></li>
</ol></section>`
}

/** App keys in the KeyRegistry that signed a verification after the account last changed hands, without duplicates. */
function appKeysOf(known: Addresses | undefined): { key: string; checked_at: string | null }[] {
  const found = (known?.addresses ?? []).flatMap(({ key, key_source, before_custody, checked_at }) =>
    key !== null && key_source === 'chain' && !before_custody ? [[key, { key, checked_at }] as const] : [],
  )
  return [...new Map(found).values()].slice(0, mostShown)
}

function signer({ address, problem, chainId }: Signer): Html {
  const chain = chainNames.find((name) => chainOf(name).id === chainId)
  const wallet = chainId !== null && `contract wallet on ${chain ? chainOf(chain).label : `chain ${chainId}`}`
  return html`<li${chainId !== null && html` class="works-at" data-address="${address}" data-chain="${chainId}"`}>${ownAddress(address)} <span class="sub">${problem === undefined ? (wallet ? `works: ${wallet}` : 'works') : `does not work: ${problem}`}</span></li>`
}
