import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { groundFacts, lastCustodyChange } from '../../db/queries/claims/grounds.ts'
import type { GroundsWorld } from '../../social/grounds/judge.ts'
import { contradictionOf } from '../../social/witness.ts'
import type { ClaimWorld } from './proof-method.ts'

type CustodyChange = NonNullable<Awaited<ReturnType<GroundsWorld['facts']['lastCustodyChange']>>>

/**
 * The last time a FID changed hands, as of the newest block: the index may be behind, and what a former owner claimed
 * meanwhile would stand until it has caught up. Throws when the chain does not answer.
 */
export async function custodyChange(
  { database, registries }: ClaimWorld,
  fid: number,
): Promise<CustodyChange | undefined> {
  // Read first: what is indexed in between is then asked for twice, not never.
  const state = registries.canAnswer ? await readChainState(database, registries.chain.name) : undefined
  const indexed = await lastCustodyChange(database, fid)
  if (!registries.canAnswer) return indexed
  const newest = await registries.custodyChangeAfter(fid, state?.indexedBlock ?? null)
  return newest && newest.block > (indexed?.block ?? -1) ? newest : indexed
}

/** What the messages behind a claim are judged against when it is accepted: chain and other hubs are asked right away. */
export function groundsWorld(world: ClaimWorld): GroundsWorld {
  const { database, registries, wallets, verificationProof, witnesses, now } = world
  const facts = groundFacts(database)
  const changes = new Map<number, Promise<CustodyChange | undefined>>()
  const changeOf = (fid: number) => {
    const change = changes.get(fid) ?? custodyChange(world, fid)
    changes.set(fid, change)
    return change
  }
  return {
    registries,
    wallets,
    verificationProof,
    now,
    facts: {
      ...facts,
      lastCustodyChange: changeOf,
      async keyFactsOf(of) {
        const [known, change] = await Promise.all([facts.keyFactsOf(of), changeOf(of.fid)])
        return { ...known, transferBlock: change?.block ?? null }
      },
    },
    contradiction: (of) => contradictionOf(witnesses, of, new Date(now())),
  }
}
