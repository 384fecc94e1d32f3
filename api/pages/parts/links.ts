import { type ChainName, chainOf } from '../../../chains.config.ts'
import { type Html, html } from '../../http/html.ts'
import type { Sources } from '../../http/route.ts'
import { shortened } from './figures.ts'
import { shortName } from './text.ts'

/** An address at the explorer of a chain, shortened. */
export function addressLink(chain: ChainName, address: string): Html {
  const { explorer, label } = chainOf(chain)
  return hexLink(filled(explorer.address, { address }), address, `${address} on ${label}`)
}

/** An address at the explorer of a chain, called by the chain: for a list of chains with one address. */
export function explorerLink(chain: ChainName, address: string): Html {
  const { explorer, label } = chainOf(chain)
  return html`<a href="${filled(explorer.address, { address })}" title="${address} on ${label}" rel="noopener noreferrer">${label}</a>`
}

export function transactionLink(chain: ChainName, hash: string): Html {
  const { explorer, label } = chainOf(chain)
  return hexLink(filled(explorer.transaction, { hash }), hash, `Transaction on ${label}`)
}

export function tokenLink(chain: ChainName, registry: string, id: string): Html {
  return outsideLink(filled(chainOf(chain).explorer.token, { address: registry, id }), `#${id}`)
}

/** An address that leads to its own page here; whole in the title, which is what a reader copies. */
export function ownAddress(address: string): Html {
  return html`<a class="hex" href="/address/${address}" title="${address}">${shortened(address)}</a>`
}

export function ownTransaction(chain: ChainName, hash: string): Html {
  return html`<a class="hex" href="/tx/${chain}/${hash}" title="${hash}">${shortened(hash)}</a>`
}

/** An agent by its handle or FID. */
export function agentLink({ fid, handle }: { readonly fid: number; readonly handle: string | null }): Html {
  return html`<a href="/agent/${fid}"><bdi>${handle === null ? `FID ${fid}` : `@${shortName(handle)}`}</bdi></a>`
}

/** An identity at its registry. */
export function identityLink({ chains }: Pick<Sources, 'chains'>, chain: ChainName, id: string): Html {
  const registry = chains[chain]?.registry.address
  return registry === undefined ? html`#${id}` : tokenLink(chain, registry, id)
}

function filled(template: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), template)
}

/** A link away from here. An address that others wrote and that is not http(s) is shown and leads nowhere. */
export function outsideLink(address: string, text: Html | string = address): Html {
  const protocol = URL.parse(address)?.protocol
  if (protocol !== 'https:' && protocol !== 'http:') return html`<bdi>${text}</bdi>`
  return html`<a href="${address}" rel="nofollow noopener noreferrer ugc"><bdi>${text}</bdi></a>`
}

/** The host of an address for short, the address itself when it has none. */
export function hostOf(address: string): string {
  return URL.parse(address)?.host || address
}

function hexLink(target: string, hex: string, title: string): Html {
  return html`<a class="hex" href="${target}" title="${title}" rel="noopener noreferrer">${shortened(hex)}</a>`
}
