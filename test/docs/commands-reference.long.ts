/** Runs the commands of the generated reference; see command-runner.ts. */
import { describeCommandsOf } from './command-runner.ts'

describeCommandsOf((file) => file === 'docs/commands.md')
