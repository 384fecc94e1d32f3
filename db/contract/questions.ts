import { agents } from './questions/agents.ts'
import { coverage } from './questions/coverage.ts'
import { elsewhere } from './questions/elsewhere.ts'
import { feedback } from './questions/feedback.ts'
import { payments } from './questions/payments.ts'
import { registrations } from './questions/registrations.ts'
import type { Sample, Subject } from './questions/subject.ts'

/**
 * Sample queries as data teams ask them, at least one for every view and function of the contract. Each runs as
 * directory_reader, and its cost is recorded in reads.json. `fid = 1` stands for the agent in question.
 */
export const subjects: readonly Subject[] = [agents, payments, registrations, feedback, elsewhere, coverage]

export const samples: readonly Sample[] = subjects.flatMap((subject) => subject.samples)
