import type { z } from 'zod'
import type { profile } from '../../schemas/agents/profile.ts'
import type { settlement } from '../../schemas/settlements/settlement.ts'
import type { Exact } from './exact-json.ts'

// Answers of the API as pages read them.

export type Profile = Exact<z.output<typeof profile>>
export type Settlement = Exact<z.output<typeof settlement>>
