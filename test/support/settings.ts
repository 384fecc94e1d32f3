import type { Setting } from '../../config/settings.row.ts'
import { settings, wrapped } from '../../config/settings.ts'

const width = 120 // characters of a line of .env.example

/** Expected text of .env.example. Consecutive settings with the same description share one comment. */
export function exampleText(): string {
  const head = [
    'Settings of the directory. Copy to .env: `npm run start:mainnet` and docker-compose.yml read that file. The other',
    'commands take their settings from the shell alone. Every line shows the default; an empty value counts as unset.',
    '',
    'Made from config/settings.ts: npx vitest run test/ground/settings.test.ts -u',
  ]
  const parts = Object.entries(settings).map(([title, group]) => {
    const rule = `# --- ${title} `
    const blocks = groupsOf(group).map(([first, ...rest]) => {
      const [, setting] = first
      const words = [`${upper(setting.about)}.`, setting.more, `Read by: ${setting.readers.join(', ')}.`]
      const lines = [first, ...rest].map(([name, one]) => `#${name}=${one.default ?? ''}`)
      return [...commented(wrapped(words.filter(Boolean).join(' '), width - 2)), ...lines].join('\n')
    })
    return [rule.padEnd(width, '-'), ...blocks].join('\n\n')
  })
  return `${[commented(head.join('\n')).join('\n'), ...parts].join('\n\n')}\n`
}

/** The rows of the table of docs/settings.md. */
export function documentRows(): string[] {
  return Object.values(settings)
    .flatMap(groupsOf)
    .map((group) => {
      const names = group.map(([name]) => name).join(', ')
      const values = group.flatMap(([, one]) => one.default ?? [])
      const shown = values.length > 0 ? values.join(', ') : (group[0][1].unset ?? '')
      return `| ${names} | ${shown || 'none'} | ${group[0][1].about} |`
    })
}

type Named = [string, Setting]

function groupsOf(group: Readonly<Record<string, Setting>>): [Named, ...Named[]][] {
  const groups: [Named, ...Named[]][] = []
  for (const named of Object.entries(group)) {
    const last = groups.at(-1)
    if (last?.[0][1].about === named[1].about) last.push(named)
    else groups.push([named])
  }
  return groups
}

const upper = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)
const commented = (words: string) => words.split('\n').map((line) => (line === '' ? '#' : `# ${line}`))
