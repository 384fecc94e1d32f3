import type { Queryable } from '../../db/pool.ts'
import { lastCustodyChange } from '../../db/queries/chain/custody.ts'
import { disputesOf, type StandingClaim, storedVerification } from '../../db/queries/claims/claim-checks.ts'
import { groundFacts, liveGroundsOf } from '../../db/queries/claims/grounds.ts'
import { registeredAddresses } from '../../db/queries/sources/registration-documents.ts'
import { claimLimits } from '../../limits.config.ts'
import type { Door } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import { DoorError, type DoorReason } from '../../net/errors.ts'
import { second } from '../../ops/time.ts'
import { domainManifestLimits, findHostLink, type LinkWorld } from '../../social/grounds/host-link.ts'
import { createGroundsJudge, type GroundsWorld, type MessageProof } from '../../social/grounds/judge.ts'
import { contractChainIdOf } from '../../social/messages.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { contradictionOf, type Witness } from '../../social/witness.ts'
import type { Json } from '../../trust/canonical-json.ts'
import { textOf } from '../../trust/text.ts'
import { type Finding, patience } from './ending.ts'
import { isAnyVerifiedBefore } from './former-owner.ts'

/** Checks the manifests with which claims were made. */
export interface Manifests {
  check(fid: number, claim: Pick<StandingClaim, 'signer' | 'host_link'>): Promise<Finding>
}

interface ManifestsOptions extends ProofWorld {
  readonly social: Pick<SocialIndex, 'statements' | 'verifications'>
  /** Other hubs, asked about the profile that links a host. */
  /** The hubs that are not followed. */
  readonly witnesses: () => readonly Witness[]
  /** What a message must be worth to support a claim. */
  readonly verificationProof: MessageProof
  readonly now: () => Date
  readonly door: Pick<Door, 'fetchJson'>
  readonly database: Queryable
  readonly egressAllow: EgressAllow
  readonly serviceName: string
  /** Throws when the followed hub is not believed. */
  believe(): Promise<void>
}

const limits = { maxBytes: claimLimits.manifestBytes, timeoutMs: 10 * second }
/** Failures that count as an answer without a manifest; all others are outages. */
const otherAnswers: readonly DoorReason[] = ['not_json', 'too_large', 'encoded', 'redirect_refused']
const gone: readonly number[] = [404, 410]

export function createManifests(options: ManifestsOptions): Manifests {
  const { door, database, egressAllow, serviceName } = options
  // Plain http is for hosts in EGRESS_ALLOW, which are the operator's own and have no certificates.
  const schemeOf = (host: string) => (egressAllow.has(host) && !host.endsWith(':443') ? 'http' : 'https')

  /** Fetches the JSON at an address; undefined: the host answers, but not with any. Throws when it does not answer. */
  async function read(url: string, bounds: Parameters<Door['fetchJson']>[1]): Promise<unknown> {
    try {
      const { status, json } = await door.fetchJson(url, bounds)
      if (gone.includes(status)) return undefined
      if (status !== 200) throw new Error(`${new URL(url).host} answered with status ${status}`)
      return json
    } catch (error) {
      if (error instanceof DoorError && otherAnswers.includes(error.reason)) return undefined
      throw error
    }
  }

  async function manifestOf(host: string): Promise<Record<string, unknown> | undefined> {
    const json = await read(`${schemeOf(host)}://${host}/.well-known/${serviceName}.json`, limits)
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
  }

  const { registries, wallets, verificationProof, witnesses, now } = options
  const grounds: GroundsWorld = {
    registries,
    wallets,
    verificationProof,
    now: () => now().getTime(),
    facts: groundFacts(database),
    // About verifications the other hubs are asked all the time, and twice before it is a dispute.
    async contradiction(of) {
      if (of.about === 'profile') return contradictionOf(witnesses(), of, now())
      const dispute = (await disputesOf(database, of.fid)).find(({ message }) => message === of.message)
      const hub = dispute?.hubs.find(({ has }) => !has)?.hub
      return hub === undefined ? undefined : { hub, message: of.message }
    },
  }
  const links: LinkWorld = {
    registries,
    wallets,
    grounds,
    associationCharacters: claimLimits.associationCharacters,
    social: {
      async statements(fid) {
        await options.believe()
        return options.social.statements(fid)
      },
    },
    registeredAddresses: (addresses, host) => registeredAddresses(database, addresses, host),
    document: (url) => read(url, domainManifestLimits),
  }

  /** Whether the network let go of all of them by itself, and no signed message took one back. */
  async function areAllPruned(fid: number, addresses: readonly string[]): Promise<boolean> {
    for (const address of addresses) {
      const { pruned, removal } = await storedVerification(database, fid, address)
      if (!pruned || removal !== null) return false
    }
    return true
  }

  return {
    async check(fid, { signer: host, host_link: linkedBy }) {
      const doubted = (detail: Json): Finding => ({
        kind: 'doubted',
        reason: 'manifest_gone',
        detail,
        patience: patience.missingManifest,
      })
      const refuted = (detail: Json): Finding => ({ kind: 'refuted', reason: 'manifest_gone', detail })
      const manifest = await manifestOf(host)
      const isOurs = manifest?.service === serviceName && textOf(manifest.host).toLowerCase() === host
      if (!isOurs) return doubted({ host, problem: 'no manifest for this service' })
      if (manifest.withdrawn === true) return refuted({ host, withdrawn: true })
      if (Number.isSafeInteger(manifest.fid) && manifest.fid !== fid)
        return refuted({ host, fid: manifest.fid as number })
      if (!Array.isArray(manifest.addresses)) return doubted({ host, problem: 'no addresses' })
      const verifications = (await liveGroundsOf(database, fid)).map((one) => ({
        ...one,
        contractChainId: contractChainIdOf(one.message),
      }))
      const isLive = (address: string) => verifications.some((one) => one.address === address)
      const addresses = [...new Set(manifest.addresses.map((one) => textOf(one).toLowerCase()))]
      const unverified = addresses.filter((one) => !isLive(one))
      if (unverified.length > 0) {
        if (!(await areAllPruned(fid, unverified))) return doubted({ host, problem: 'addresses that are not verified' })
        // Nobody took them back: that suspends the claim, however long it lasts.
        const detail = { host, addresses: unverified, pruned: true }
        return { kind: 'doubted', reason: 'verification_removed', detail }
      }
      const transfer = await lastCustodyChange(database, fid)
      if (transfer && (await isAnyVerifiedBefore(fid, addresses, transfer, options))) {
        return doubted({ host, problem: 'addresses that were verified before the account changed hands' })
      }
      const judge = createGroundsJudge(fid, verifications, grounds)
      for (const address of addresses) {
        const weakness = await judge.weaknessOf(address)
        if (!weakness || weakness.contradiction) continue // a dispute is looked at for every claim alike
        return doubted({ host, problem: `${address} cannot support a claim: ${weakness.why}` })
      }
      if (linkedBy === null) return { kind: 'holds' } // the claim was accepted without a host link
      const transferBlock = transfer?.block ?? null
      const urlOf = (path: string) => `${schemeOf(host)}://${host}${path}`
      const subject = { fid, host, judge, transferBlock, association: manifest.accountAssociation, urlOf }
      const found = await findHostLink(subject, links)
      if (found.kind === 'linked') return { kind: 'holds' }
      if (found.kind === 'disputed') {
        const { hub, message } = found.contradiction
        return { kind: 'doubted', reason: 'disputed', detail: { host, message, hubs: [{ hub, has: false }] } }
      }
      return doubted({ host, problem: 'nothing links the host to the account', linked_by: linkedBy })
    },
  }
}
