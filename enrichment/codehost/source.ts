import type pg from 'pg'
import {
  forgetCodehostProfile,
  readCodehostProfile,
  type StoredCodehostProfile,
  type StoredWork,
  storeCodehostProfile,
} from '../../db/queries/sources/codehost-profiles.ts'
import { readCodehostInput } from '../../db/queries/sources/enrichment-inputs.ts'
import { sources } from '../../sources.config.ts'
import { numberOf, type Reading, type Source } from '../schedule/source.ts'
import type { Upstream } from '../upstream.ts'
import { namesAgent } from './back-reference.ts'
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
