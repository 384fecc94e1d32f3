import { z } from 'zod'
import { namesOf, type SpecContent, shortText } from './content.ts'

const text = z.string().trim().min(1)

/** A name, a list of skills, and somewhere to send requests: `url` before A2A 1.0, `supportedInterfaces` since. */
const card = z
  .object({
    name: text,
    version: z.union([z.string(), z.number()]).optional(),
    url: text.optional(),
    supportedInterfaces: z.array(z.object({ url: text })).optional(),
    skills: z.array(z.unknown()),
  })
  .refine(({ url, supportedInterfaces = [] }) => url !== undefined || supportedInterfaces.length > 0)

/** Reads an agent card; undefined: not one. Source: A2A specification 4.4.1 (1.0) and 5.5 (0.3). */
export function toA2aCard(value: unknown): SpecContent | undefined {
  const parsed = card.safeParse(value)
  if (!parsed.success) return undefined
  const { name, version, skills } = parsed.data
  return { title: shortText(name), version: shortText(version), skills: namesOf(skills), tools: [], pathCount: null }
}
