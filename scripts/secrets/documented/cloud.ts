/** What clouds, orchestrators and stores of secrets print and read. */
import { documented } from './format.ts'

export const CLOUD_FORMATS = [
  documented(
    'Kubernetes',
    'secret as JSON',
    'https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/',
    [
      (v, s) =>
        `$ kubectl get secret db -o json\n{\n    "apiVersion": "v1",\n    "data": {\n        "pg": "${s(v.base64(24))}",\n        "username": "${s(v.base64(12))}"\n    },\n    "kind": "Secret",\n    "metadata": {\n        "name": "db"\n    },\n    "type": "Opaque"\n}`,
      (v, s) =>
        `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"mail"},"stringData":{"login":"${s(v.alphanumeric(20))}"}}`,
      (v, s) =>
        `{"apiVersion":"v1","items":[{"apiVersion":"v1","data":{"a.conf":"${s(v.base64(80))}"},"kind":"Secret","metadata":{"name":"x"}}],"kind":"List"}`,
      (v, s) =>
        `annotations:\n  kubectl.kubernetes.io/last-applied-configuration: |\n    {"apiVersion":"v1","data":{"upstream":"${s(v.base64(32))}"},"kind":"Secret","metadata":{"annotations":{}}}`,
    ],
    [
      (v) =>
        `{"apiVersion":"v1","data":{"app.conf":"port=${v.digits(4)}","mode":"production"},"kind":"ConfigMap","metadata":{"name":"x"}}`,
      (v) => `"involvedObject": {"kind": "Secret", "name": "db-${v.lower(5)}"}, "reason": "Created"`,
      (v) => `$ kubectl get secret\nNAME   TYPE     DATA   AGE\ndb     Opaque   2      ${v.digits(2)}d`,
    ],
  ),
  documented(
    'Kubernetes',
    'secret by jsonpath',
    'https://kubernetes.io/docs/tasks/configmap-secret/managing-secret-using-kubectl/#decoding-secret',
    [
      (v, s) => `$ kubectl get secret db -o jsonpath='{.data.password}' | base64 --decode\n${s(v.password())}`,
      (v, s) =>
        `$ kubectl -n prod get secrets/api -o go-template='{{.data.key|base64decode}}'\n${s(v.alphanumeric(32))}`,
      (v, s) => `$ kubectl create secret generic db --from-literal='upstream=${s(v.signs())}'`,
    ],
    [
      (v) => `$ kubectl get pods -o jsonpath='{.items[0].metadata.name}'\nweb-${v.hex(9)}-${v.lower(5)}`,
      (v) =>
        `$ kubectl get secret db -o jsonpath='{.metadata.creationTimestamp}'\n2026-03-0${v.between(1, 9)}T10:00:00Z`,
      () => '$ kubectl describe secret db\nType:  Opaque\n\nData\n====\npassword:  12 bytes\nusername:  5 bytes',
    ],
  ),
  documented(
    'HashiCorp',
    'terraform output',
    'https://developer.hashicorp.com/terraform/cli/commands/output',
    [
      (v, s) =>
        `$ terraform output -json\n{\n  "db_admin": {\n    "sensitive": true,\n    "type": "string",\n    "value": "${s(v.signs())}"\n  },\n  "region": {\n    "sensitive": false,\n    "type": "string",\n    "value": "eu-west-1"\n  }\n}`,
      (v, s) => `{"kube":{"sensitive":true,"type":"string","value":"${s(v.base64(60))}"}}`,
      (v, s) => `$ terraform output -raw db_password\n${s(v.alphanumeric(20))}`,
      (v, s) => `$ terraform output\ndb_password = "${s(v.signs())}"\nregion = "eu-west-1"`,
    ],
    [
      (v) => `{"vpc_id":{"sensitive":false,"type":"string","value":"vpc-${v.hex(17)}"}}`,
      () => 'db_password = <sensitive>\nregion = "eu-west-1"',
      (v) => `$ terraform output -raw vpc_id\nvpc-${v.hex(17)}`,
      () => 'output "db_password" {\n  value     = aws_db_instance.main.password\n  sensitive = true\n}',
    ],
  ),
  documented(
    'HashiCorp',
    'Vault tokens',
    'https://developer.hashicorp.com/vault/docs/concepts/tokens',
    [
      (v, s) => `X-Vault-Token: ${s(`s.${v.alphanumeric(24)}`)}`,
      (v, s) => `$ curl -H "X-Vault-Token: ${s(`s.${v.alphanumeric(24)}`)}" http://127.0.0.1:8200/v1/secret/db`,
      (v, s) => `export VAULT_TOKEN=${s(`s.${v.alphanumeric(24)}`)}`,
      (v, s) => `$ vault login ${s(`s.${v.alphanumeric(24)}`)}`,
      (v, s) =>
        `Key                  Value\n---                  -----\ntoken                ${s(`s.${v.alphanumeric(24)}`)}\ntoken_duration       ∞`,
      (v, s) => `Unseal Key 1: ${s(v.base64(44))}\nInitial Root Token: ${s(`hvs.${v.alphanumeric(24)}`)}`,
      (v, s) => `$ vault kv get -field=password secret/db\n${s(v.password())}`,
    ],
    [
      () => 'token_policies       ["default" "app"]\ntoken_renewable      true\ntoken_duration       768h',
      () => 'const token = this.client.token',
      (v) => `lease_id: database/creds/app/${v.alphanumeric(24)}`,
      () => '$ vault kv get -field=host secret/db\ndb.example.com',
    ],
  ),
  documented(
    'HashiCorp',
    'terraform credentials and providers',
    'https://developer.hashicorp.com/terraform/cli/config/config-file#credentials',
    [
      (v, s) => `credentials "app.terraform.io" {\n  token = "${s(v.alphanumeric(40))}"\n}`,
      (v, s) => `provider "digitalocean" {\n  token = "${s(v.hex(64))}"\n}`,
      (v, s) => `$ terraform apply -var='db_password=${s(v.signs())}'`,
      (v, s) => `TF_VAR_admin_password=${s(v.signs())}`,
    ],
    [
      () => 'variable "db_password" {\n  type      = string\n  sensitive = true\n}',
      () => 'provider "digitalocean" {\n  token = var.do_token\n}',
      () => 'password = random_password.db.result',
      () => 'password = data.aws_secretsmanager_secret_version.db.secret_string',
      (v) => `resource "random_password" "db" {\n  length  = ${v.digits(2)}\n  special = true\n}`,
    ],
  ),
  documented(
    'Amazon',
    'SSM parameters',
    'https://docs.aws.amazon.com/cli/latest/reference/ssm/get-parameter.html',
    [
      (v, s) =>
        `{\n    "Parameter": {\n        "Name": "/app/prod/db",\n        "Type": "SecureString",\n        "Value": "${s(v.signs())}",\n        "Version": 3,\n        "DataType": "text"\n    }\n}`,
      (v, s) =>
        `{"Parameters":[{"Name":"/app/mail","Type":"SecureString","Value":"${s(v.alphanumeric(24))}","Version":1}],"InvalidParameters":[]}`,
      (v, s) => `$ aws ssm put-parameter --name /app/db --type SecureString --value '${s(v.signs())}' --overwrite`,
      (v, s) =>
        `$ aws ssm get-parameter --name /app/db --with-decryption --query Parameter.Value --output text\n${s(v.password())}`,
    ],
    [
      (v) => `{"Parameter":{"Name":"/app/region","Type":"String","Value":"eu-west-${v.between(1, 3)}","Version":2}}`,
      () => '$ aws ssm put-parameter --name /app/mode --type String --value production',
      () => '{"Parameters":[{"Name":"/app/db","Type":"SecureString","KeyId":"alias/aws/ssm","Version":1}]}',
    ],
  ),
  documented(
    'Amazon',
    'Secrets Manager',
    'https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/get-secret-value.html',
    [
      (v, s) =>
        `{\n    "Name": "prod/db",\n    "SecretString": "{\\"user\\":\\"app\\",\\"password\\":\\"${s(v.signs())}\\"}",\n    "VersionStages": ["AWSCURRENT"]\n}`,
      (v, s) =>
        `$ aws secretsmanager get-secret-value --secret-id prod/db --query SecretString --output text\n{"engine":"postgres","login":"${s(v.alphanumeric(20))}"}`,
      (v, s) => `$ aws secretsmanager create-secret --name prod/x --secret-string '${s(v.signs())}'`,
    ],
    [
      (v) => `"ARN": "arn:aws:secretsmanager:eu-west-1:${v.digits(12)}:secret:prod/db-${v.lower(6)}"`,
      () => '$ aws secretsmanager list-secrets --query "SecretList[].Name" --output text\nprod/db\tprod/mail',
      (v) => `"VersionId": "${v.uuid()}", "RotationEnabled": true`,
    ],
  ),
  documented(
    'Amazon',
    'credential process and roles',
    'https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html',
    [
      (v, s) =>
        `{"Version": 1, "AccessKeyId": "ASIA${v.upper(16)}", "SecretAccessKey": "${s(v.base64(40))}", "SessionToken": "${s(v.base64(200))}"}`,
      (v, s) => `$ aws ecr get-login-password --region eu-west-1\n${s(v.base64(400))}`,
      (v, s) => `$ aws iam create-login-profile --user-name ada --password '${s(v.signs())}'`,
    ],
    [
      (v) =>
        `{"UserId": "AROA${'EXAMPLE'}:ci", "Account": "${v.digits(12)}", "Arn": "arn:aws:sts::${v.digits(12)}:assumed-role/ci/x"}`,
      () =>
        '$ aws ecr get-login-password | docker login --username AWS --password-stdin 1.dkr.ecr.eu-west-1.amazonaws.com\nLogin Succeeded',
      () => '"PasswordPolicy": {"MinimumPasswordLength": 14, "RequireSymbols": true}',
    ],
  ),
  documented(
    'Google',
    'gcloud tokens',
    'https://cloud.google.com/sdk/gcloud/reference/auth/print-access-token',
    [
      (v, s) => `$ gcloud auth print-access-token\n${s(`ya29.c.${v.urlSafe(40)}.${v.urlSafe(80)}`)}`,
      (v, s) => `using ${s(`ya29.c.b0A${v.urlSafe(60)}_${v.urlSafe(60)}`)} for the upload`,
      (v, s) => `{"access_token":"${s(`ya29.c.${v.urlSafe(120)}`)}","expires_in":3599,"token_type":"Bearer"}`,
      (v, s) => `$ gcloud secrets versions access latest --secret=db\n${s(v.password())}`,
    ],
    [
      () => '$ gcloud config get-value project\nmy-project-123456',
      (v) => `$ gcloud secrets versions list db\nNAME  STATE    CREATED\n${v.digits(1)}     enabled  2026-01-01`,
      () => 'The access token begins with ya29. and lives for an hour.',
    ],
  ),
  documented(
    'Microsoft',
    'Azure Key Vault and CLI',
    'https://learn.microsoft.com/en-us/cli/azure/keyvault/secret#az-keyvault-secret-show',
    [
      (v, s) =>
        `{\n  "attributes": {\n    "enabled": true\n  },\n  "contentType": null,\n  "id": "https://app.vault.azure.net/secrets/db/${v.hex(32)}",\n  "kid": null,\n  "name": "db",\n  "tags": {},\n  "value": "${s(v.alphanumeric(24))}"\n}`,
      (v, s) => `$ az keyvault secret set --vault-name app --name db --value '${s(v.signs())}'`,
      (v, s) => `$ az account get-access-token --query accessToken -o tsv\n${s(v.urlSafe(200))}`,
      (v, s) => `{"appId": "${v.uuid()}", "displayName": "ci", "password": "${s(v.signs())}", "tenant": "${v.uuid()}"}`,
    ],
    [
      (v) => `{"id": "https://app.vault.azure.net/secrets/db", "name": "db", "enabled": true, "tenant": "${v.uuid()}"}`,
      (v) => `"subscriptionId": "${v.uuid()}", "state": "Enabled"`,
      () => '$ az keyvault secret list --vault-name app --query "[].name" -o tsv\ndb\nmail',
    ],
  ),
  documented(
    '1Password',
    'op item',
    'https://developer.1password.com/docs/cli/reference/management-commands/item',
    [
      (v, s) =>
        `{"id": "password", "type": "CONCEALED", "purpose": "PASSWORD", "label": "password", "value": "${s(v.signs())}", "reference": "op://x/y/password"}`,
      (v, s) =>
        `{\n  "id": "${v.lower(26)}",\n  "type": "CONCEALED",\n  "label": "pin",\n  "value": "${s(v.alphanumeric(12))}"\n}`,
      (v, s) => `$ op read op://app/db/password\n${s(v.signs())}`,
    ],
    [
      (v) => `{"id": "${v.lower(26)}", "type": "STRING", "label": "region", "value": "eu"}`,
      () => 'DB_PASSWORD=op://app/db/password',
      () => '$ op item list\nID    TITLE    VAULT    EDITED\nabc   db       app      2 days ago',
    ],
  ),
  documented(
    'GitLab',
    'CI variables',
    'https://docs.gitlab.com/api/project_level_variables/',
    [
      (v, s) =>
        `{"variable_type":"env_var","key":"DEPLOY","value":"${s(v.alphanumeric(20))}","hidden":false,"protected":true,"masked":true,"raw":false}`,
      (v, s) => `{"key":"SSH_PASSPHRASE","value":"${s(v.signs())}","masked":false,"protected":false}`,
      (v, s) =>
        `$ curl --header "PRIVATE-TOKEN: ${s(v.alphanumeric(20))}" "https://gitlab.example.com/api/v4/projects/1/variables"`,
    ],
    [
      () => '{"key":"NODE_ENV","value":"production","masked":false,"protected":false}',
      () => 'variables:\n  POSTGRES_PASSWORD: $CI_DB_PASSWORD\n  DOCKER_TLS_CERTDIR: "/certs"',
      () => 'script:\n  - echo "$CI_REGISTRY_PASSWORD" | docker login -u "$CI_REGISTRY_USER" --password-stdin',
    ],
  ),
  documented(
    'Heroku',
    'config vars',
    'https://devcenter.heroku.com/articles/config-vars',
    [
      (v, s) => `=== app Config Vars\n\nSECRET_KEY_BASE: ${s(v.hex(64))}\nSMTP_PASSWORD:   ${s(v.signs())}`,
      (v, s) => `$ heroku config:set UPSTREAM=${s(v.alphanumeric(24))} -a app`,
      (v, s) => `$ heroku config:get SMTP_PASSWORD\n${s(v.password())}`,
    ],
    [
      () => '=== app Config Vars\n\nNODE_ENV: production\nLOG_LEVEL: info',
      () => '$ heroku config:get NODE_ENV\nproduction',
      (v) => `Setting SMTP_PASSWORD and restarting app... done, v${v.digits(2)}`,
    ],
  ),
  documented(
    'Docker',
    'environment and secrets',
    'https://docs.docker.com/reference/compose-file/services/#environment',
    [
      (v, s) => `environment:\n  MARIADB_ROOT_PASSWORD: ${s(v.signs())}\n  TZ: UTC`,
      (v, s) => `environment:\n  - RABBITMQ_DEFAULT_PASS=${s(v.signs())}`,
      (v, s) => `$ docker run -e MINIO_ROOT_PASSWORD=${s(v.signs())} minio/minio`,
      (v, s) => `$ printf '${s(v.password())}' | docker secret create db_password -`,
      (v, s) => `ARG NPM_TOKEN=${s(v.alphanumeric(30))}`,
    ],
    [
      () => 'secrets:\n  db_password:\n    file: ./db_password.txt',
      () => 'environment:\n  POSTGRES_PASSWORD_FILE: /run/secrets/db_password',
      () => `environment:\n  MARIADB_ROOT_PASSWORD: $\{MARIADB_ROOT_PASSWORD:-}`,
      () => 'RUN --mount=type=secret,id=npm_token NPM_TOKEN=$(cat /run/secrets/npm_token) npm ci',
    ],
  ),
  documented(
    'Ansible',
    'variables',
    'https://docs.ansible.com/ansible/latest/inventory_guide/intro_inventory.html',
    [
      (v, s) => `web1 ansible_host=10.0.0.4 ansible_user=deploy ansible_password=${s(v.signs())}`,
      (v, s) => `ansible_become_password: ${s(v.signs())}`,
      (v, s) => `- name: login\n  uri:\n    url: https://example.com\n    url_password: ${s(v.signs())}`,
      (v, s) => `$ ansible-playbook site.yml -e db_password=${s(v.alphanumeric(16))}`,
    ],
    [
      () => 'ansible_become_password: "{{ vault_become_password }}"',
      (v) => `db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  ${v.digits(60)}`,
      () => '- name: set the password of the user\n  user:\n    name: deploy\n    update_password: on_create',
      () => "password: \"{{ lookup('env', 'DB_PASSWORD') }}\"",
    ],
  ),
  documented(
    'GitHub',
    'actions and CLI',
    'https://cli.github.com/manual/gh_secret_set',
    [
      (v, s) => `$ gh secret set DEPLOY_KEY --body "${s(v.alphanumeric(32))}"`,
      (v, s) => `$ echo "${s(v.alphanumeric(32))}" | gh auth login --with-token`,
      (v, s) => `env:\n  NPM_PASSWORD: ${s(v.signs())}`,
      (v, s) => `$ gh auth token\n${s(`gho_${v.alphanumeric(36)}`)}`,
    ],
    [
      () => `with:\n  token: $\{{ secrets.GITHUB_TOKEN }}\n  persist-credentials: false`,
      () => '$ gh secret list\nDEPLOY_KEY  Updated 2026-01-01\nNPM_TOKEN   Updated 2026-02-01',
      (v) => `uses: actions/checkout@${v.hex(40)} # v4`,
      () => '  password: ***\n  token: ***',
    ],
  ),
]
