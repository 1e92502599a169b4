import { dynamoDbContract } from './dynamodb-contract.ts';
import { engineEndpoint } from './engine-endpoint.ts';

dynamoDbContract('moto', engineEndpoint('moto'), {
  'takes the largest items and the largest transaction that the port admits':
    'moto refuses items of more than 405,000 bytes; DynamoDB takes 409,600',
});
