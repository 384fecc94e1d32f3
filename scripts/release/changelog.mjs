// @ts-check
import { breaksOf } from './breaks.mjs'

/**
 * @typedef {import('../../api/changelog/changes.ts').ApiChange} Change
 * @typedef {{
 *   version: string, day: string, changes: string[], migrations: string[], settings: string[]
 * }} Release
 * A release: the `id`s of the changes that it brought, and all migrations and settings that it has.
 */

const kinds = /** @type {const} */ (['added', 'changed', 'deprecated', 'removed'])
const lead = `# Changelog

What changed for who asks the API and for who runs the service; the form is that of Keep a Changelog 1.1.0, versions are
those of Semantic Versioning. Written by \`npm run release\` and \`npx vitest run test/house/changelog.test.ts -u\` from the
changes of the API (\`api/changelog/changes.ts\`, also at /docs/changelog and as a feed) and \`docs/releases.json\`.`

/**
 * The text of CHANGELOG.md.
 * @param {readonly Change[]} changes newest first
 * @param {readonly Release[]} releases newest first
 */
export function changelogOf(changes, releases) {
  const open = unreleased(changes, releases)
  const parts = releases.map((release, place) => {
    const own = changes.filter(({ id }) => release.changes.includes(id))
    return section(`${release.version} - ${release.day}`, own, operatorsNote(release, releases[place + 1]))
  })
  return `${[lead, ...(open.length > 0 ? [section('Unreleased', open, [])] : []), ...parts].join('\n\n')}\n`
}

/**
 * Changes that are in no release yet.
 * @param {readonly Change[]} changes
 * @param {readonly Release[]} releases
 */
export function unreleased(changes, releases) {
  const told = new Set(releases.flatMap((release) => release.changes))
  return changes.filter(({ id }) => !told.has(id))
}

/**
 * Requests that are not as they were released and that no change names, by `operationId`.
 * @param {import('./breaks.mjs').Json} was the OpenAPI document of the last release
 * @param {import('./breaks.mjs').Json} is
 * @param {readonly Change[]} changes those since
 */
export function untold(was, is, changes) {
  // What is new breaks programs that were written for today's document when the service becomes what it was.
  const lines = [...breaksOf(was, is), ...breaksOf(is, was)]
  const told = new Set(changes.flatMap(({ operations }) => operations))
  const operations = [was, is].flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        operationId,
        request: `${method.toUpperCase()} ${path} `,
      })),
    ),
  )
  const moved = operations.filter(({ request }) => lines.some((line) => line.startsWith(request)))
  return [...new Set(moved.map(({ operationId }) => operationId))].filter((id) => !told.has(id)).sort()
}

/**
 * @param {string} title
 * @param {readonly Change[]} changes
 * @param {string[]} note
 */
function section(title, changes, note) {
  const lists = kinds.flatMap((kind) => {
    const lines = changes
      .filter((change) => change.kind === kind)
      .map((change) => `- **${change.title}.** ${change.text}`)
    return lines.length > 0 ? [`### ${kind[0]?.toUpperCase()}${kind.slice(1)}\n\n${lines.join('\n')}`] : []
  })
  const operators = note.length > 0 ? [`### For operators\n\n${note.join('\n')}`] : []
  return [`## ${title}`, ...lists, ...operators].join('\n\n')
}

/**
 * Lines for operators: migrations and settings that differ from the release before.
 * @param {Release} release
 * @param {Release | undefined} before
 */
function operatorsNote(release, before) {
  if (!before) return []
  const added = (/** @type {'migrations' | 'settings'} */ what) =>
    release[what].filter((one) => !before[what].includes(one))
  const gone = before.settings.filter((name) => !release.settings.includes(name))
  /** @param {string} what @param {string[]} names */
  const line = (what, names) =>
    names.length > 0 ? [`- ${what}: ${names.map((name) => `\`${name}\``).join(', ')}`] : []
  return [
    ...line('migrations', added('migrations')),
    ...line('new settings', added('settings')),
    ...line('settings that are no more', gone),
  ]
}
