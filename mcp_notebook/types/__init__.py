"""The protocol's vocabulary as pydantic models, free of versions.

Each model holds everything that any revision knows; what a revision lacks is dropped by its `Revision`.
Source: schema.ts of each revision.
"""

from .base import Annotations, Cacheable, Cursor, Icon, Model, PaginatedResult, ProgressToken, Result, Role
from .completion import (
    CompleteResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    Reference,
    ResourceTemplateReference,
)
from .content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    UnknownContent,
    decode_base64,
    encode_base64,
    text_of,
)
from .elicitation import ElicitParams, ElicitResult
from .initialize import ClientCapabilities, Implementation, InitializeParams, InitializeResult, ServerCapabilities
from .modern import DiscoverResult, InputRequest, InputRequiredResult, ListenParams, SubscriptionFilter
from .notifications import LOGGING_LEVELS, LoggingLevel, LogMessage, Progress, ResourceUpdated
from .prompts import GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage
from .resources import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceContents,
    ResourceTemplate,
)
from .roots import ListRootsResult, Root
from .sampling import (
    CreateMessageParams,
    CreateMessageResult,
    ModelHint,
    ModelPreferences,
    SamplingMessage,
    ToolChoice,
    ToolResultContent,
    ToolUseContent,
)
from .tools import NO_ARGUMENTS, CallToolResult, ListTasksResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution

__all__ = [
    "LOGGING_LEVELS",
    "NO_ARGUMENTS",
    "Annotations",
    "AudioContent",
    "Cacheable",
    "CallToolResult",
    "ClientCapabilities",
    "CompleteResult",
    "Completion",
    "CompletionArgument",
    "CompletionContext",
    "ContentBlock",
    "CreateMessageParams",
    "CreateMessageResult",
    "Cursor",
    "DiscoverResult",
    "ElicitParams",
    "ElicitResult",
    "EmbeddedResource",
    "GetPromptResult",
    "Icon",
    "ImageContent",
    "Implementation",
    "InitializeParams",
    "InitializeResult",
    "InputRequest",
    "InputRequiredResult",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListRootsResult",
    "ListTasksResult",
    "ListToolsResult",
    "ListenParams",
    "LogMessage",
    "LoggingLevel",
    "Model",
    "ModelHint",
    "ModelPreferences",
    "PaginatedResult",
    "Progress",
    "ProgressToken",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptReference",
    "ReadResourceResult",
    "Reference",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceTemplate",
    "ResourceTemplateReference",
    "ResourceUpdated",
    "Result",
    "Role",
    "Root",
    "SamplingMessage",
    "ServerCapabilities",
    "SubscriptionFilter",
    "TextContent",
    "Tool",
    "ToolAnnotations",
    "ToolChoice",
    "ToolExecution",
    "ToolResultContent",
    "ToolUseContent",
    "UnknownContent",
    "decode_base64",
    "encode_base64",
    "text_of",
]
