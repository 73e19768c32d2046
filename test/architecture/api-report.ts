/**
 * The public surface of the package, for each entry of `exports`. API Extractor reads the declarations that `tsc`
 * makes. It brings a TypeScript of its own, because TypeScript 7 has no interface for such programs yet.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IConfigFile,
} from '@microsoft/api-extractor'

export interface ApiReport {
  /** Every declaration, without comments, in a fixed order. */
  text: string
  /** The names that are exported. */
  exported: string[]
  /** Types that a signature names but the entry does not export. */
  forgotten: string[]
  /** Declarations and members without a docstring. */
  undocumented: string[]
  /** Functions, and methods of the handles, whose docstring shows no example of a call. */
  withoutExample: string[]
  /** Members whose docstring says `No effect`. */
  withoutEffect: string[]
}

interface Item {
  kind: string
  name: string
  docComment?: string
  members?: Item[]
}

/** People call the methods of these. */
const HANDLES = [
  'StelloClient',
  'SessionHandle',
  'TurnHandle',
  'StelloWorker',
  'StelloPlugin',
  'ToolContext',
  'CallAgents',
  'MemoryManager',
  'FakeServer',
]
/** What has an example of its own: a function, a method of an interface, a method of a class. */
const CALLED = ['Function', 'MethodSignature', 'Method']

const QUIET = { default: { logLevel: ExtractorLogLevel.None } }

/**
 * @param root the folder of the project @returns the report of each entry that has types; the entry `.` is called
 * `index`
 */
export function apiReports(root: string): Record<string, ApiReport> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stello-api-')))
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const dist = join(folder, 'dist')
    execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', dist], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    for (const file of ['package.json', 'tsconfig.json']) cpSync(join(root, file), join(folder, file))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const configs = entriesOf(root).map(([name, types]) => [name, configOf(folder, name, types)] as const)
    const [first, ...others] = configs.map(([, config]) => config)
    if (!first) throw new Error('package.json exports nothing that has types')
    const compilerState = CompilerState.create(first, {
      additionalEntryPoints: others.map((config) => config.mainEntryPointFilePath),
    })
    return Object.fromEntries(configs.map(([name, config]) => [name, reportOf(name, config, compilerState)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function entriesOf(root: string): [name: string, types: string][] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>
  }
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[path === '.' ? 'index' : path.slice(2), target.types] as [string, string]],
  )
}

function configOf(folder: string, name: string, types: string): ExtractorConfig {
  const reports = join(folder, 'api', name)
  mkdirSync(reports, { recursive: true })
  const configObject: IConfigFile = {
    projectFolder: folder,
    mainEntryPointFilePath: join(folder, types),
    newlineKind: 'lf',
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: 'es2022',
          lib: ['es2023'],
          module: 'nodenext',
          moduleResolution: 'nodenext',
          types: ['node'],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
        },
        files: [types],
      },
    },
    apiReport: { enabled: true, reportFileName: name, reportFolder: reports, reportTempFolder: join(reports, 'made') },
    docModel: { enabled: true, apiJsonFilePath: join(reports, 'model.json'), includeForgottenExports: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: QUIET,
      tsdocMessageReporting: QUIET,
      extractorMessageReporting: {
        ...QUIET,
        'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning },
        'ae-undocumented': { logLevel: ExtractorLogLevel.Warning },
      },
    },
  }
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: join(folder, 'api-extractor.json'),
    packageJsonFullPath: join(folder, 'package.json'),
  })
}

function reportOf(name: string, config: ExtractorConfig, compilerState: CompilerState): ApiReport {
  const forgotten: string[] = []
  const undocumented: string[] = []
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback(message) {
      message.handled = true
      const { messageId, text, sourceFilePath = '', sourceFileLine } = message
      const subject = /"(.+?)"/.exec(text)?.[1] ?? text
      const at = `${sourceFilePath.replace(/^.*\/dist\//, '')}:${sourceFileLine}`
      if (messageId === 'ae-forgotten-export') forgotten.push(subject)
      if (messageId === 'ae-undocumented') undocumented.push(`${subject} (${at})`)
    },
  })
  const model = JSON.parse(readFileSync(config.apiJsonFilePath, 'utf8')) as Item
  const exported = model.members?.flatMap(({ members = [] }) => members) ?? []
  const report = readFileSync(config.reportFilePath, 'utf8')
  return {
    text: withoutRemarks(report),
    exported: exported.map((item) => item.name),
    forgotten: [...new Set(forgotten)],
    undocumented,
    withoutExample: exported
      .flatMap((item) => (HANDLES.includes(item.name) ? (item.members ?? []) : [item]))
      .filter(({ kind }) => CALLED.includes(kind))
      .filter((item) => !item.docComment?.includes('@example'))
      .map((item) => item.name),
    withoutEffect: exported
      .flatMap(({ members = [] }) => members)
      .filter((member) => member.docComment?.includes('No effect'))
      .map((member) => member.name),
  }
}

/** Removes the warnings that other tests check. */
function withoutRemarks(report: string): string {
  return report
    .replace(/^ *\/\/ (Warning: .*|\(undocumented\)|)\n/gm, '')
    .replace(/ \(undocumented\)$/gm, '')
    .replace(/^\/\/ (Warnings were encountered during analysis:|\(No @packageDocumentation.*|dist\/.*)\n+/gm, '')
    .replace(/^\/\/\n/gm, '')
}
