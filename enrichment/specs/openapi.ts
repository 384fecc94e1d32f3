import { z } from 'zod'
import { type SpecContent, shortText } from './content.ts'

const description = z.object({
  openapi: z.string().regex(/^3\.\d/),
  info: z.object({ title: z.string().trim().min(1), version: z.union([z.string(), z.number()]).optional() }),
  paths: z.record(z.string(), z.unknown()),
})

/** Reads an OpenAPI description, version 3; undefined: not one. */
export function toOpenApi(value: unknown): SpecContent | undefined {
  const parsed = description.safeParse(value)
  if (!parsed.success) return undefined
  const { info, paths } = parsed.data
  const title = shortText(info.title)
  const version = shortText(info.version)
  return { title, version, skills: [], tools: [], pathCount: Object.keys(paths).length }
}
