/** Runs the commands of README.md, CONTRIBUTING.md and all pages but the reference; see command-runner.ts. */
import { describeCommandLists, describeCommandsOf } from './command-runner.ts'

describeCommandLists()
describeCommandsOf((file) => file !== 'docs/commands.md')
