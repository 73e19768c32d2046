/** The authoring API of `stello-temporal`: what an agent module needs, and nothing else. */
export { createStelloAgent } from './agent/agent.ts'
export type { AgentDefinition, SessionFork, StelloAgent } from './agent/agent.ts'
export type { AutoResume, AutoResumeSettings, WaitSettings, Waits } from './agent/wait-settings.ts'
export type { Compaction, CompactionSettings } from './agent/compaction-settings.ts'
export type { LimitSettings } from './agent/limit-settings.ts'
export type { Capabilities, Sealable } from './agent/parts.ts'
export type { ResolvedProfile } from './agent/resolve-profile.ts'
export type { PartSource } from './protocol/config.ts'
export type { Limits, TreeBounds } from './protocol/limits.ts'
export type { ToolFilter } from './protocol/tool-filter.ts'
export { tool } from './tool/tool-function.ts'
export type {
  CallToolResult,
  Check,
  Checked,
  Effect,
  Kind,
  OnUnknownOutcome,
  OpenTool,
  SessionContext,
  SessionFacts,
  Tool,
  ToolAnnotations,
  ToolContext,
  ToolExtras,
  Verification,
  Verified,
} from './tool/tool.ts'
export type { Duration } from './core/duration.ts'
export { toTool } from './tool/to-tool.ts'
export type { AnyTool, ToolLike } from './tool/any-tool.ts'
export type { Aliases } from './tool/aliases.ts'
export type { JsonInput } from './tool/json-input.ts'
export { BaseTool } from './tool/base-tool.ts'
export type { DynamicTool, ToolClass, ToolFacts, ToolFactory } from './tool/any-tool.ts'
export { ToolStatus } from './tool/tool-status.ts'
export type { ToolCard, ToolStatusOptions } from './tool/tool-status.ts'
export {
  createSimpleTool,
  createTool,
  defineSimpleTool,
  defineTool,
  registerTool,
  toolFromDefinition,
  toolRegistry,
} from './tool/compat.ts'
export type { InputOf, SimpleTool, ToolDefinition } from './tool/compat.ts'
export type { Validated, Validation } from './tool/precondition.ts'
export type { DescriptionLike, NamedDescription, StructuredDescription, ToolDescription } from './tool/description.ts'
export { ToolRegistryImpl } from './tool/tool-registry.ts'
export { buildSessionToolList } from './agent/tool-list.ts'
export { ForkProfileRegistryImpl } from './agent/profile.ts'
export { SubagentRegistry } from './agent/subagent-registry.ts'
export type {
  AgentPermissions,
  CanUse,
  HookedCall,
  PermissionSettings,
  ToolHooks,
} from './agent/permission-settings.ts'
export type { ForkContext, ForkProfile } from './agent/profile.ts'
export type { PermissionRules } from './protocol/permission-rules.ts'
export { SkillRouterImpl } from './agent/skill-router.ts'
export type { Skill } from './core/skill.ts'
export { loadSkillsFromDirectory } from './skills/load.ts'
export { buildToolsPrompt, generateToolsPrompt } from './agent/tools-prompt.ts'
export { extractJSON } from './models/actions/extract-json.ts'
export type { ToolsPrompt } from './models/actions/action-messages.ts'
export { jsonActions } from './models/actions/json-actions.ts'
export type { JsonActionsOptions, TextModel } from './models/actions/json-actions.ts'
export { defineProfile } from './models/define-profile.ts'
export type { ProfileDefinition } from './models/define-profile.ts'
export type { PendingNotifier, PendingWebhook } from './agent/pending-notifier.ts'
export type { Notice } from './protocol/notices.ts'
export type { DecisionsByKind, PendingKind } from './protocol/pending.ts'
export type { PersonAnswer, PersonQuestion } from './tool/person.ts'
export type { AgentStatus, AgentView, AgentWait, AgentsWaited, CallAgents, NewAgent } from './tool/call-agents.ts'
export type { SessionValues } from './tool/session-values.ts'
export type { Ruled, Touch } from './tool/touch.ts'
export type { CapabilityPack, ClosedSession, PackContext, PackTools } from './agent/capability-pack.ts'
export type { WorkspaceKeeper, WorkspaceOf, WorkspacePer } from './agent/workspace-keeper.ts'
export { withToolsPrompt } from './models/actions/with-tools-prompt.ts'
export { fallback } from './models/fallback.ts'
export type { FallbackOptions } from './models/fallback.ts'
export { modelFromName } from './models/model-from-name.ts'
export { aiSdk } from './models/ai-sdk/ai-sdk.ts'
export type { AiSdkOptions } from './models/ai-sdk/ai-sdk.ts'
export type { AiSdkModel } from './models/ai-sdk/language-model.ts'
export { createClaude } from './models/anthropic/claude.ts'
export type { ClaudeOptions, ClaudeThinking } from './models/anthropic/claude-options.ts'
export { openai } from './models/openai/openai.ts'
export { azure } from './models/openai/azure.ts'
export type { AzureOptions } from './models/openai/azure.ts'
export type { OpenAIOptions, ReasoningOptions } from './models/openai/openai-options.ts'
export type { Prices } from './models/prices.ts'
export type { ModelWaitOptions } from './models/model-waits.ts'
export type {
  CompleteOptions,
  Completion,
  Fallback,
  JsonSchema,
  Model,
  ModelDelta,
  ModelLike,
  ToolSpec,
} from './core/model.ts'
export type { ImagePart, Message, Part, ProviderData, Role, TextPart, ToolCall, Usage } from './core/message.ts'
export { RetryableError } from './core/retryable-error.ts'
export type { RetryableErrorOptions } from './core/retryable-error.ts'
export type { Retries, RetrySettings } from './core/retries.ts'
export { StelloError, isStelloError } from './core/errors.ts'
export type { Clearing, ErrorCode, Fate, StelloErrorOptions, ToolErrorCode } from './core/errors.ts'
