import { type ChainName, chainOf } from '../../../config/chains.ts'
import type { Sources } from '../../http/route.ts'
import { shortened } from './figures.ts'
import { type Html, html } from './html.ts'
import { shortName } from './text.ts'

/** Link from a shortened address to the explorer of a chain. */
export function addressLink(chain: ChainName, address: string): Html {
  const { explorer, label } = chainOf(chain)
  return hexLink(filled(explorer.address, { address }), address, `${address} on ${label}`)
}

/** Link to an address at the explorer of a chain, with the chain's label as text: for a list of chains. */
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

/** Link from a shortened address to its page here; the title has it whole, and it is copied whole. */
export function ownAddress(address: string): Html {
  return html`<a class="hex" href="/address/${address}" title="${address}">${shortened(address)}</a>`
}

export function ownTransaction(chain: ChainName, hash: string): Html {
  return html`<a class="hex" href="/tx/${chain}/${hash}" title="${hash}">${shortened(hash)}</a>`
}

/** Link to an agent's page, with its handle or else its FID as text. */
export function agentLink({ fid, handle }: { readonly fid: number; readonly handle: string | null }): Html {
  return html`<a href="/agent/${fid}"><bdi>${handle === null ? `FID ${fid}` : `@${shortName(handle)}`}</bdi></a>`
}

/** Link to a registration at the explorer; plain text when the chain has no known registry. */
export function identityLink({ chains }: Pick<Sources, 'chains'>, chain: ChainName, id: string): Html {
  const registry = chains[chain]?.registry.address
  return registry === undefined ? html`#${id}` : tokenLink(chain, registry, id)
}

function filled(template: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), template)
}

/** Link to another site; text without a link when the address, which a stranger wrote, is not http(s). */
export function outsideLink(address: string, text: Html | string = address): Html {
  const protocol = URL.parse(address)?.protocol
  if (protocol !== 'https:' && protocol !== 'http:') return html`<bdi>${text}</bdi>`
  return html`<a href="${address}" rel="nofollow noopener noreferrer ugc"><bdi>${text}</bdi></a>`
}

/** Host of a URL, with its port if any; the text itself when it has none. */
export function hostOf(address: string): string {
  return URL.parse(address)?.host || address
}

function hexLink(target: string, hex: string, title: string): Html {
  return html`<a class="hex" href="${target}" title="${title}" rel="noopener noreferrer">${shortened(hex)}</a>`
}
