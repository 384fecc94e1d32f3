import type pg from 'pg'
import { isSameSite, isSharedPlatform } from '../../config/platforms.ts'
import { sources } from '../../config/sources.ts'
import {
  forgetCodehostProfile,
  readCodehostProfile,
  type StoredAccount,
  type StoredCodehostProfile,
  type StoredWork,
  storeCodehostProfile,
} from '../../db/queries/sources/codehost-profiles.ts'
import { type CodehostInput, readCodehostInput } from '../../db/queries/sources/enrichment-inputs.ts'
import { numberOf, type Reading, type Source } from '../schedule/source.ts'
import type { Upstream } from '../upstream.ts'
import { githubUser, githubWork } from './github.ts'
import { namedAccounts } from './login.ts'

interface CodehostOptions {
  readonly pool: pg.Pool
  readonly upstream: Upstream
  readonly now: () => Date
}

const noWork: StoredWork = { totalStars: null, topLanguages: [], lastPushAt: null }

/**
 * Source of the accounts that agents name on GitHub. A known account is asked for by its number, so that it is followed
 * when it changes its login, and whoever takes the old login does not replace it. Requests are conditional: an
 * unchanged answer has no body.
 */
export function codehost({ pool, upstream, now }: CodehostOptions): Source {
  return {
    ...sources.codehost,
    host: upstream.host,

    async read([subject]): Promise<Reading> {
      const fid = numberOf(subject!)
      const agent = await readCodehostInput(pool, fid)
      if (!agent) return { outcome: 'gone', write: async () => undefined }
      const known = await readCodehostProfile(pool, fid)

      for (const { login, source } of namedAccounts(agent)) {
        let before = known?.askedLogin === login ? known : undefined
        let user = await githubUser(upstream, before?.userId ?? login, before?.userEtag)
        if (before && user.status === 'nothing') {
          before = undefined // the account is deleted, and its login is free
          user = await githubUser(upstream, login)
        }
        if (user.status === 'nothing') continue
        const account = user.status === 'ok' ? user.content : before!
        const worked = before?.login === account.login ? before.repositoriesEtag : null
        const work = await githubWork(upstream, account.login, worked)
        const profile: StoredCodehostProfile = {
          ...account,
          ...(work.status === 'ok' ? work.content : work.status === 'unchanged' ? workOf(before!) : noWork),
          askedLogin: login,
          source,
          verified: namesAgent(account, agent),
          userEtag: user.status === 'ok' ? user.etag : before!.userEtag,
          repositoriesEtag: work.status === 'ok' ? work.etag : worked,
        }
        return {
          outcome: 'ok',
          async write(db) {
            await storeCodehostProfile(db, { fid, profile, now: now() })
            return sources.codehost.cadenceMs.all
          },
        }
      }
      return {
        outcome: 'empty',
        async write(db) {
          await forgetCodehostProfile(db, fid)
          return sources.codehost.cadenceMs.all
        },
      }
    },
  }
}

function workOf({ totalStars, topLanguages, lastPushAt }: StoredWork): StoredWork {
  return { totalStars, topLanguages, lastPushAt }
}

/** Whether the account names the agent in turn: by an address, its handle in the network, or a host proven to be its. */
export function namesAgent({ blog, bio }: Pick<StoredAccount, 'blog' | 'bio'>, agent: CodehostInput): boolean {
  const text = `${blog ?? ''} ${bio ?? ''}`.toLowerCase()
  if (agent.addresses.some((address) => text.includes(address))) return true
  const handles = [...text.matchAll(/(?:farcaster\.xyz|warpcast\.com)\/([^\s/?#),]+)/g)].map(([, handle]) => handle)
  if (agent.handle !== null && handles.includes(agent.handle.toLowerCase())) return true
  const page = toUrl(blog)
  if (!page || isSharedPlatform(page)) return false
  return agent.pages.flatMap((own) => toUrl(own) ?? []).some((own) => isSameSite(own, page))
}

/** A page's address, which people also write without its scheme. */
function toUrl(text: string | null): URL | undefined {
  if (!text) return undefined
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  return url?.hostname.includes('.') ? url : undefined
}
