package roomcheck

import androidx.room.ColumnInfo
import androidx.room.Entity
import androidx.room.ForeignKey
import androidx.room.Index
import androidx.room.PrimaryKey

// The tables of the app, written by hand from the exported schemas; SchemaTest holds them to those files.
// Property order is column order, and both versions share every table that did not change.

@Entity(tableName = "agents")
data class Agent(
    @PrimaryKey val id: String,
    val name: String,
    val description: String?,
    @ColumnInfo("system_prompt") val systemPrompt: String,
    @ColumnInfo("tool_ids") val toolIds: String,
    @ColumnInfo("preferred_provider_id") val preferredProviderId: String?,
    @ColumnInfo("preferred_model_id") val preferredModelId: String?,
    @ColumnInfo("is_built_in") val isBuiltIn: Boolean,
    @ColumnInfo("created_at") val createdAt: Long,
    @ColumnInfo("updated_at") val updatedAt: Long,
)

@Entity(tableName = "providers")
data class Provider(
    @PrimaryKey val id: String,
    val name: String,
    val type: String,
    @ColumnInfo("api_base_url") val apiBaseUrl: String,
    @ColumnInfo("is_pre_configured") val isPreConfigured: Boolean,
    @ColumnInfo("is_active") val isActive: Boolean,
    @ColumnInfo("created_at") val createdAt: Long,
    @ColumnInfo("updated_at") val updatedAt: Long,
)

@Entity(
    tableName = "models",
    primaryKeys = ["id", "provider_id"],
    foreignKeys = [ForeignKey(Provider::class, ["id"], ["provider_id"], onDelete = ForeignKey.CASCADE)],
    indices = [Index("provider_id")],
)
data class ModelV1(
    val id: String,
    @ColumnInfo("display_name") val displayName: String?,
    @ColumnInfo("provider_id") val providerId: String,
    @ColumnInfo("is_default") val isDefault: Boolean,
    val source: String,
)

/** [ModelV1] with the column that version 2 added. */
@Entity(
    tableName = "models",
    primaryKeys = ["id", "provider_id"],
    foreignKeys = [ForeignKey(Provider::class, ["id"], ["provider_id"], onDelete = ForeignKey.CASCADE)],
    indices = [Index("provider_id")],
)
data class Model(
    val id: String,
    @ColumnInfo("display_name") val displayName: String?,
    @ColumnInfo("provider_id") val providerId: String,
    @ColumnInfo("is_default") val isDefault: Boolean,
    val source: String,
    @ColumnInfo("context_window_size") val contextWindowSize: Int?,
)

@Entity(tableName = "sessions", indices = [Index("updated_at"), Index("deleted_at")])
data class SessionV1(
    @PrimaryKey val id: String,
    val title: String,
    @ColumnInfo("current_agent_id") val currentAgentId: String,
    @ColumnInfo("message_count") val messageCount: Int,
    @ColumnInfo("last_message_preview") val lastMessagePreview: String?,
    @ColumnInfo("is_active") val isActive: Boolean,
    @ColumnInfo("deleted_at") val deletedAt: Long?,
    @ColumnInfo("created_at") val createdAt: Long,
    @ColumnInfo("updated_at") val updatedAt: Long,
)

/** [SessionV1] with the two columns that version 2 added. */
@Entity(tableName = "sessions", indices = [Index("updated_at"), Index("deleted_at")])
data class Session(
    @PrimaryKey val id: String,
    val title: String,
    @ColumnInfo("current_agent_id") val currentAgentId: String,
    @ColumnInfo("message_count") val messageCount: Int,
    @ColumnInfo("last_message_preview") val lastMessagePreview: String?,
    @ColumnInfo("is_active") val isActive: Boolean,
    @ColumnInfo("deleted_at") val deletedAt: Long?,
    @ColumnInfo("created_at") val createdAt: Long,
    @ColumnInfo("updated_at") val updatedAt: Long,
    @ColumnInfo("compacted_summary") val compactedSummary: String?,
    @ColumnInfo("compact_boundary_timestamp") val compactBoundaryTimestamp: Long?,
)

/** Room resolves a foreign key by the parent's table name, so this class serves version 1 with [SessionV1] too. */
@Entity(
    tableName = "messages",
    foreignKeys = [ForeignKey(Session::class, ["id"], ["session_id"], onDelete = ForeignKey.CASCADE)],
    indices = [Index("session_id"), Index("created_at")],
)
data class Message(
    @PrimaryKey val id: String,
    @ColumnInfo("session_id") val sessionId: String,
    val type: String,
    val content: String,
    @ColumnInfo("thinking_content") val thinkingContent: String? = null,
    @ColumnInfo("tool_call_id") val toolCallId: String? = null,
    @ColumnInfo("tool_name") val toolName: String? = null,
    @ColumnInfo("tool_input") val toolInput: String? = null,
    @ColumnInfo("tool_output") val toolOutput: String? = null,
    @ColumnInfo("tool_status") val toolStatus: String? = null,
    @ColumnInfo("tool_duration_ms") val toolDurationMs: Long? = null,
    @ColumnInfo("token_count_input") val tokenCountInput: Int? = null,
    @ColumnInfo("token_count_output") val tokenCountOutput: Int? = null,
    @ColumnInfo("model_id") val modelId: String? = null,
    @ColumnInfo("provider_id") val providerId: String? = null,
    @ColumnInfo("created_at") val createdAt: Long,
)

@Entity(tableName = "app_settings")
data class Setting(
    @PrimaryKey val key: String,
    val value: String,
)
