import { z } from 'zod'
import { agentStanding, type Standing } from '../../../db/queries/agents/profile.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, type Route, route } from '../../http/route.ts'
import { html } from '../../pages/parts/html.ts'

/** Content of a badge, whether drawn as SVG or sent as JSON. */
interface Badge {
  readonly label: string
  readonly message: string
  /** Six hex digits; white text on it has a contrast of at least 4.5. */
  readonly color: string
}

/** A badge as the JSON that shields.io reads ("endpoint badge"). */
const endpointBadge = z
  .strictObject({
    schemaVersion: z.literal(1),
    label: z.string(),
    message: z.string(),
    color: z.string().regex(/^[0-9a-f]{6}$/),
  })
  .meta({ id: 'EndpointBadge' })

const kept = { errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'], maxAgeSeconds: 300, freshSeconds: 60 } as const
const asked = { params: z.object({ fid: fidParameter }), query: z.object({}) }

/** GET /badge/:fid.svg */
export const badge: Route = route({
  ...kept,
  ...asked,
  path: '/badge/{fid}.svg',
  operationId: 'getBadge',
  summary: 'How an agent stands in the directory, as an image for other pages.',
  answer: {
    type: 'image/svg+xml',
    schema: z.string(),
    description: 'The image; a grey one of an FID that is no agent, as pages show nothing of an error.',
  },
  // An SVG opened by itself is a document: it may load and run nothing.
  headers: { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" },
  read: async ({ fid }, { database, serviceName }) => drawn(badgeOf(await agentStanding(database, fid), serviceName)),
})

/** GET /badge/:fid.json */
export const badgeEndpoint: Route = route({
  ...kept,
  ...asked,
  path: '/badge/{fid}.json',
  operationId: 'getBadgeEndpoint',
  summary: 'The same in the form that shields.io reads.',
  answer: { type: json, schema: endpointBadge, description: 'The badge.' },
  async read({ fid }, { database, serviceName }) {
    return JSON.stringify({ schemaVersion: 1, ...badgeOf(await agentStanding(database, fid), serviceName) })
  },
})

const statuses = { active: 'active', historical: 'historical', 'claimed-only': 'no registration' } as const

function badgeOf(standing: Standing | undefined, label: string): Badge {
  if (!standing) return { label, message: 'unknown', color: '616161' }
  const { claimed, agent_status: status, pays_own_wallet: isOwn } = standing
  const color = status === 'historical' ? '616161' : claimed ? '1b7a3d' : '1f5f99'
  const paid = isOwn ? ', pays to its own wallet' : ''
  return { label, message: `${claimed ? 'claimed' : 'unclaimed'}, ${statuses[status]}${paid}`, color }
}

const height = 20
const padding = 6
const fontSize = 11

function drawn({ label, message, color }: Badge): string {
  const left = Math.ceil(widthOf(label)) + 2 * padding
  const right = Math.ceil(widthOf(message)) + 2 * padding
  const text = (words: string, start: number, width: number) =>
    html`<text x="${start + width / 2}" y="14" textLength="${width - 2 * padding}">${words}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${message}">
<title>${label}: ${message}</title>
<rect width="${left}" height="${height}" fill="#404040"/>
<rect x="${left}" width="${right}" height="${height}" fill="#${color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="${fontSize}">
${text(label, 0, left)}
${text(message, left, right)}
</g>
</svg>
`.text
}

/** Characters of Verdana by width, in 1/1000 em; any other character counts as 1,000, the widest. */
const widths: readonly (readonly [string, number])[] = [
  ['ijlI', 300],
  [" .,:;'|!-ft()[]/", 394],
  ['rs', 500],
  ['cvxyzkJ_', 565],
  ['aegobdhnpqu0123456789L"?$#*', 636],
  ['TFEPSYZXBKACRV', 690],
  ['wDGHNOQU&+=<>~^', 818],
]
const widthOfCharacter = new Map(
  widths.flatMap(([all, width]) => [...all].map((one): [string, number] => [one, width])),
)

/** Width of a text in pixels; `textLength` makes the drawn text fit it exactly. */
function widthOf(text: string): number {
  return [...text].reduce((sum, one) => sum + ((widthOfCharacter.get(one) ?? 1_000) * fontSize) / 1_000, 0)
}
