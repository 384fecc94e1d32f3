import { agents } from './samples/agents.ts'
import { coverage } from './samples/coverage.ts'
import { elsewhere } from './samples/elsewhere.ts'
import { feedback } from './samples/feedback.ts'
import { payments } from './samples/payments.ts'
import { registrations } from './samples/registrations.ts'
import type { Sample, Subject } from './samples/subject.ts'

/**
 * Sample queries as data teams ask them, at least one for every view and function of the contract. Each runs as
 * directory_reader, and its cost is recorded in reads.json. `fid = 1` stands for the agent in question.
 */
export const subjects: readonly Subject[] = [agents, payments, registrations, feedback, elsewhere, coverage]

export const samples: readonly Sample[] = subjects.flatMap((subject) => subject.samples)
