// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// The part of the ERC-8004 reputation registry that is indexed: feedback given, revoked and responded to.
contract ReputationRegistry {
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);

    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    error TooManyDecimals();
    error SelfFeedback();
    error NoSuchFeedback();
    error AlreadyRevoked();

    address private constant IDENTITY_REGISTRY = 0x8004A169FB4a3325136EB29fA0ceB6D2e539a432;

    mapping(uint256 agentId => mapping(address client => uint64 index)) private _lastIndex;
    mapping(uint256 agentId => mapping(address client => mapping(uint64 index => bool))) private _revoked;

    /// Indexes count from 1, for each client of an agent anew.
    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= 18, TooManyDecimals());
        _refuseOwners(agentId);
        uint64 index = ++_lastIndex[agentId][msg.sender];
        emit NewFeedback(
            agentId,
            msg.sender,
            index,
            value,
            valueDecimals,
            tag1,
            tag1,
            tag2,
            endpoint,
            feedbackURI,
            feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        require(feedbackIndex > 0 && feedbackIndex <= _lastIndex[agentId][msg.sender], NoSuchFeedback());
        require(!_revoked[agentId][msg.sender][feedbackIndex], AlreadyRevoked());
        _revoked[agentId][msg.sender][feedbackIndex] = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// Anybody may, as often as he likes.
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string memory responseURI,
        bytes32 responseHash
    ) external {
        require(feedbackIndex > 0 && feedbackIndex <= _lastIndex[agentId][clientAddress], NoSuchFeedback());
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _lastIndex[agentId][clientAddress];
    }

    function getIdentityRegistry() external pure returns (address) {
        return IDENTITY_REGISTRY;
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function _refuseOwners(uint256 agentId) private view {
        IERC721 registry = IERC721(IDENTITY_REGISTRY);
        address owner = registry.ownerOf(agentId);
        require(
            msg.sender != owner &&
                !registry.isApprovedForAll(owner, msg.sender) &&
                registry.getApproved(agentId) != msg.sender,
            SelfFeedback()
        );
    }
}
