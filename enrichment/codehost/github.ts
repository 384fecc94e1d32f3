import { z } from 'zod'
import type { StoredAccount, StoredWork } from '../../db/queries/sources/codehost-profiles.ts'
import { badAboutOne } from '../../hosts/no-answer.ts'
import type { Answer, Upstream } from '../upstream.ts'
import { cleanCount, cleanText, cleanUrl } from '../upstream.ts'

/** Answer of `/users/{login}` and `/user/{id}`. The e-mail address in it is not parsed. */
const user = z.object({
  login: z.string(),
  id: z.int().positive(),
  type: z.string().nullish(),
  name: z.string().nullish(),
  html_url: z.string().nullish(),
  avatar_url: z.string().nullish(),
  blog: z.string().nullish(),
  bio: z.string().nullish(),
  followers: z.number().nullish(),
  following: z.number().nullish(),
  public_repos: z.number().nullish(),
  created_at: z.string().nullish(),
})

/** Answer of `/users/{login}/repos`. */
const repositories = z.array(
  z.object({
    owner: z.object({ login: z.string() }),
    fork: z.boolean(),
    stargazers_count: z.number(),
    language: z.string().nullish(),
    pushed_at: z.string().nullish(),
  }),
)

const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }
/** Repositories read per account: those pushed to last. */
const repositoriesPerAsk = 100
const mostLanguages = 5
const longest = { name: 256, text: 1_024 } // code points

/**
 * Reads an account by its login, or by its number, which it keeps when it changes its login. Throws like
 * `Upstream.ask`, and when the answer is about another account.
 */
export async function githubUser(
  { ask }: Upstream,
  whom: string | number,
  etag?: string | null,
): Promise<Answer<StoredAccount>> {
  const path = typeof whom === 'number' ? `/user/${whom}` : `/users/${whom}`
  const answer = await ask({ path, headers, etag }, user)
  if (answer.status !== 'ok') return answer
  const { content } = answer
  if (typeof whom === 'number' ? content.id !== whom : !isSame(content.login, whom)) {
    throw badAboutOne(`asked for ${whom}, answered for ${content.login.slice(0, longest.name)}`)
  }
  return {
    ...answer,
    content: {
      login: cleanText(content.login, longest.name) ?? String(whom),
      userId: content.id,
      type: cleanText(content.type, longest.name),
      name: cleanText(content.name, longest.name),
      url: cleanUrl(content.html_url),
      avatarUrl: cleanUrl(content.avatar_url),
      blog: cleanText(content.blog, longest.text),
      bio: cleanText(content.bio, longest.text),
      followers: cleanCount(content.followers),
      following: cleanCount(content.following),
      publicRepos: cleanCount(content.public_repos),
      accountCreatedAt: dateOf(content.created_at),
    },
  }
}

/** Summary of an account's own repositories; forks do not count. Throws like `githubUser`. */
export async function githubWork({ ask }: Upstream, login: string, etag?: string | null): Promise<Answer<StoredWork>> {
  const query = `per_page=${repositoriesPerAsk}&sort=pushed&type=owner`
  const answer = await ask({ path: `/users/${login}/repos?${query}`, headers, etag }, repositories)
  if (answer.status !== 'ok') return answer
  const stranger = answer.content.find(({ owner }) => !isSame(owner.login, login))
  if (stranger) throw badAboutOne(`asked for repositories of ${login}, got another's`)
  const own = answer.content.filter(({ fork }) => !fork)
  const pushes = own.flatMap(({ pushed_at }) => dateOf(pushed_at)?.getTime() ?? [])
  return {
    ...answer,
    content: {
      totalStars: cleanCount(own.reduce((sum, { stargazers_count }) => sum + stargazers_count, 0)),
      topLanguages: topOf(own.flatMap(({ language }) => cleanText(language, longest.name) ?? [])),
      lastPushAt: pushes.length > 0 ? new Date(Math.max(...pushes)) : null,
    },
  }
}

/** The languages of most repositories first, then by name. */
function topOf(languages: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const language of languages) counts.set(language, (counts.get(language) ?? 0) + 1)
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.slice(0, mostLanguages).map(([language]) => language)
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** A time; null: unreadable or impossible, as before 2005 there was no host, and a column cannot hold every year. */
function dateOf(text: string | null | undefined): Date | null {
  const ms = Date.parse(text ?? '')
  return ms >= Date.UTC(2005) && ms < Date.UTC(3000) ? new Date(ms) : null
}
