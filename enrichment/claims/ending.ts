import type { CheckEvent, StandingClaim } from '../../db/queries/claims/claim-checks.ts'
import { day, hour } from '../../ops/time.ts'
import { canonicalJson, type Json } from '../../trust/canonical-json.ts'

/** Why a claim was ended, as its event records it. */
type EndReason =
  | 'fid_transferred'
  | 'fid_recovered'
  | 'verification_removed'
  | 'key_removed'
  | 'manifest_gone'
  | 'wallet_denies'

/** Why a claim is suspended: a reason that may end it, or hubs that disagree, which never ends it. */
type DoubtReason = EndReason | 'disputed'

/** The result of checking a standing claim. */
export type Finding =
  | { readonly kind: 'holds' }
  /** A host or node did not answer, which says nothing about the claim. */
  | { readonly kind: 'unknown'; readonly error: unknown }
  /** Missing evidence, or evidence that may yet be undone: it suspends the claim. */
  | {
      readonly kind: 'doubted'
      readonly reason: DoubtReason
      readonly detail: Json
      /** After how many such checks the claim ends; undefined: they never end it, only final evidence does. */
      readonly grace?: Grace
    }
  /** Signed or final evidence: it ends the claim. */
  | { readonly kind: 'refuted'; readonly reason: EndReason; readonly detail: Json }

interface Grace {
  /** Checks that have to fail in a row, the last one `overMs` or more after the first. */
  readonly looks: number
  readonly overMs: number
  /** Checks closer together than this, in milliseconds, count once. */
  readonly apartMs: number
}

/** How long evidence may be missing before that ends a claim. */
export const gracePeriods = {
  /** A verification that is missing from a hub's answer. */
  missingVerification: { looks: 2, overMs: hour, apartMs: hour },
  /** A contract wallet that no longer confirms its signature. */
  walletDenies: { looks: 2, overMs: day, apartMs: day },
  /** A host that answers without the manifest that the claim rests on. */
  missingManifest: { looks: 3, overMs: 3 * day, apartMs: day },
} as const satisfies Record<string, Grace>

interface Look {
  readonly at: string
  readonly detail: Json
}

/** The event that a finding causes for a claim; undefined: none, nothing has changed. */
export function eventOf(
  { state, kind, evidence }: Pick<StandingClaim, 'state' | 'kind' | 'evidence'>,
  finding: Finding,
  now: Date,
): Pick<CheckEvent, 'kind' | 'evidence'> | undefined {
  switch (finding.kind) {
    case 'unknown':
      return undefined
    case 'holds':
      return state === 'suspended' ? { kind: 'resumed', evidence: canonicalJson({}) } : undefined
    case 'refuted': {
      const { reason, detail } = finding
      return { kind: 'ended', evidence: canonicalJson({ reason, detail }) }
    }
    case 'doubted': {
      const { reason, detail, grace } = finding
      const before = kind === 'suspended' ? (evidence as { reason?: string; looks?: readonly Look[] }) : {}
      const looks = before.reason === reason ? (before.looks ?? []) : []
      const first = looks[0]
      const last = looks.at(-1)
      if (last && (!grace || now.getTime() - Date.parse(last.at) < grace.apartMs)) return undefined
      const all = [...looks, { at: now.toISOString(), detail }]
      const isOver = grace && first && all.length >= grace.looks && now.getTime() - Date.parse(first.at) >= grace.overMs
      return {
        kind: isOver ? 'ended' : 'suspended',
        evidence: canonicalJson({ reason, looks: all } as unknown as Json),
      }
    }
  }
}
