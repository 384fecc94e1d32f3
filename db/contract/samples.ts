import { agents } from './samples/agents.ts'
import { coverage } from './samples/coverage.ts'
import { elsewhere } from './samples/elsewhere.ts'
import { feedback } from './samples/feedback.ts'
import { payments } from './samples/payments.ts'
import { registrations } from './samples/registrations.ts'
import type { Sample, Subject } from './samples/subject.ts'

/**
 * Questions that data teams ask: of every view and function of the contract one at least. Each runs as directory_reader,
 * and what it costs is kept in reads.json. `fid = 1` stands for whichever agent is asked about.
 */
export const subjects: readonly Subject[] = [agents, payments, registrations, feedback, elsewhere, coverage]

export const samples: readonly Sample[] = subjects.flatMap((subject) => subject.samples)
