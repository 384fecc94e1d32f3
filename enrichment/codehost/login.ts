import type { CodehostInput } from '../../db/queries/sources/enrichment-inputs.ts'

/** A GitHub account that an agent names, and where it names it. */
interface NamedAccount {
  readonly login: string
  readonly source: CodehostInput['named'][number]['source']
}

/** Most accounts tried for one agent, one after the other until one exists. */
const mostNamed = 3
/**
 * The form of a login at GitHub: letters, digits, hyphens, 39 at most. One that an enterprise manages ends with an underscore
 * and the enterprise's short code.
 */
const loginForm = /^(?=.{1,39}$)[a-z\d][a-z\d-]*(?:_[a-z\d]{3,8})?$/i
/** Paths of github.com under which no account stands. */
const notAccounts = new Set(['about', 'apps', 'features', 'marketplace', 'settings', 'sponsors', 'topics', 'users'])

/** Accounts on GitHub that an agent names, each once, the best source first. */
export function namedAccounts({ named }: Pick<CodehostInput, 'named'>): NamedAccount[] {
  const found = new Map<string, NamedAccount>()
  for (const { name, source } of named) {
    const login = loginOf(name)
    if (login !== undefined && !found.has(login)) found.set(login, { login, source })
  }
  return [...found.values()].slice(0, mostNamed)
}

/** Lowercase login from a handle, with or without `@`, or a github.com address; undefined: it names none. */
export function loginOf(name: string): string | undefined {
  const path = name.trim().replace(/^(?:https?:\/\/)?(?:www\.)?github\.com\//i, '')
  const [first = '', second = ''] = path.replace(/^@/, '').split(/[/?#]/)
  const login = (first.toLowerCase() === 'orgs' ? second : first).toLowerCase()
  return loginForm.test(login) && !notAccounts.has(login) ? login : undefined
}
