import type { SpecKind } from './kinds.ts'
import { type Resource, resourcesIn } from './offers/resources.ts'
import { type Price, pricesIn } from './prices.ts'

/** What a document or a demand for payment says of what it sells. */
export interface Sale {
  readonly prices: readonly Price[]
  readonly resources: readonly Resource[]
  /** Entries of the lists that have more than are kept, by name of the list: at least so many. */
  readonly truncated: Readonly<Record<string, number>>
}

export const noSale: Sale = { prices: [], resources: [], truncated: {} }

/** Reads what is for sale in a document of this kind; a demand for payment is read as an x402 manifest. Never throws. */
export function saleIn(document: unknown, kind: SpecKind = 'x402'): Sale {
  const { prices, isCut } = pricesIn(document)
  const described = kind === 'x402' ? resourcesIn(document) : { resources: [], isCut: false }
  const truncated = {
    ...(isCut && { prices: prices.length + 1 }),
    ...(described.isCut && { resources: described.resources.length + 1 }),
  }
  return { prices, resources: described.resources, truncated }
}
